module github.com/jonboulle/clockwork

go 1.24.0
