package peers

import (
	"runtime"
	"testing"
)

// keyBytesRow is what a million keys hold of the heap, without the strings themselves.
func keyBytesRow() costRow {
	return costRow{name: "a key of 1M", unit: "B", most: 60, sides: func(b *testing.B) []side {
		return bytesOf(
			func() keyed { return keyedGCRA(million) },
			func() keyed { return keyedSethvargo(b) },
			keyedSyncMap,
		)
	}}
}

// keyedOfGCRABytesRow is the same of what has any limiter for each key.
func keyedOfGCRABytesRow() costRow {
	return costRow{name: "a key of 1M, any limiter", unit: "B", most: 130, sides: func(*testing.B) []side {
		return bytesOf(func() keyed { return keyedOfGCRA(million) }, keyedMutexMap, keyedSyncMap)
	}}
}

// bytesOf measures each with a million keys.
func bytesOf(makers ...func() keyed) (sides []side) {
	keys, _ := names(million)
	for _, make := range makers {
		before := heapInUse()
		k := make().fill(keys)
		held := heapInUse() - before
		runtime.KeepAlive(k)
		sides = append(sides, side{name: k.name, most: 1, calls: 1, measure: func(int) float64 { return held / million }})
	}
	return sides
}

// heapInUse returns what the heap holds.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC() // what the first one finalized
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
