// Package redislimit keeps one limit for many machines, on Redis or Valkey.
//
// A [Limiter] is the [limiters.GCRA] with its state on the server: it makes the same decisions, is
// a [limiters.Taker] with a limit for each key, and can be used like any other, for example in
// front of HTTP handlers:
//
//	rdb := redis.NewClient(&redis.Options{Addr: "10.0.0.1:6379", DialerRetries: 1})
//	users := redislimit.New(rdb, "users", 100*time.Millisecond, 10) // 10 per second, 10 at once
//	handler := httplimit.Rate(users, httplimit.Key(user))(mux)
//
// A decision is one script and one round trip. The time is the server's, so the clocks of the
// machines do not matter. Limiter describes what a network adds to the laws of a limiter; the
// README what it costs, and when a limit in each machine is better.
//
// If the server cannot be reached, a policy decides. The policies differ in their envelope,
// the most that is granted in any period of length L:
//
//   - By default Take returns an error, and httplimit answers 503 Service Unavailable.
//     The envelope stays rate * L + burst.
//   - With [FailTo] another Taker decides, usually a limiter in memory. Meanwhile the
//     envelope grows by that of each machine's Taker.
//   - With [FailOpen] every request up to the burst is granted: there is no envelope
//     meanwhile.
//
// Grants of that time are not counted when the server is back.
package redislimit
