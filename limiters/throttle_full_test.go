package limiters

import "os"

// fullRun makes the model tests run 100,000 schedules per variant.
var fullRun = os.Getenv("LIMITERS_FULL") != ""
