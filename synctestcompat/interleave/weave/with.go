package main

func (w *weaver) replace() error { return nil }
