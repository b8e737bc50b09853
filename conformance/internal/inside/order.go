package inside

// Order says how a racing step meets the timers of its instant.
type Order int

const (
	// OrderSettled is the order of schedules without racing steps.
	OrderSettled Order = iota
	// OrderStepFirst does the step when its instant is reached, and lets the timers of
	// that instant fire after what it did has settled.
	OrderStepFirst
	// OrderHeld lets the timers fire but keeps their functions back until the step has
	// returned, or blocks.
	OrderHeld
	// OrderFireFirst lets timers and functions go first, as for a step that is not
	// racing.
	OrderFireFirst
	// OrderSampled leaves the order to chance; many runs sample it.
	OrderSampled
	// OrderReceived lets the receiver of a timer's channel get its value, and continue when
	// the step has returned, or blocks.
	OrderReceived
)

// String says in words how the step met its timers.
func (o Order) String() string {
	return [...]string{
		"each step after the timers of its instant",
		"the racing step went before the timers of its instant",
		"the timer had fired and its function was held until the racing step had returned",
		"the timer and its function went before the racing step",
		"whether the timer or the racing step went first was chance",
		"the receiver of the timer had its value and was held until the racing step had returned",
	}[o]
}

// Certain reports whether the driver made sure that the racing step returned before the
// implementation could act on its timer.
func (o Order) Certain() bool { return o == OrderStepFirst || o == OrderHeld }
