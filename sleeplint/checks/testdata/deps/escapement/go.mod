module github.com/escapement-go/escapement

go 1.24.0
