//go:build !race

package rapidbubble

func races() int { return 0 }
