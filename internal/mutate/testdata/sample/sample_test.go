package sample

import (
	"testing"
	"time"
)

func TestConformance_Gate(t *testing.T) {
	g, began := New(2), time.Unix(1000, 0)
	for i, want := range []bool{true, true, false} {
		if got := g.Pass(began); got != want {
			t.Errorf("call %d at the start: %v, want %v", i, got, want)
		}
	}
	if !g.Pass(began.Add(time.Second)) {
		t.Error("the next second was refused")
	}
	g.Close()
	if g.Pass(began.Add(time.Hour)) {
		t.Error("who is closed let one through")
	}
}

func TestConformance_First(t *testing.T) {
	if got := First([]int{0, 3, 7}, 5); got != 7 {
		t.Errorf("First = %d, want 7", got)
	}
}

func TestConformance_Receive(t *testing.T) {
	c := make(chan int, 1)
	c <- 1
	if got := Receive(nil, c); got != -1 {
		t.Errorf("Receive = %d, want -1", got)
	}
}
