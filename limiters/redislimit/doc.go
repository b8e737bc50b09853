// Package redislimit keeps one limit for many machines, on Redis or Valkey.
//
// A [Limiter] is the [limiters.GCRA] with its state on the server: it decides alike, is a
// [limiters.Taker] with a limit for each key, and goes wherever these go, such as in front of
// HTTP handlers:
//
//	rdb := redis.NewClient(&redis.Options{Addr: "10.0.0.1:6379", DialerRetries: 1})
//	users := redislimit.New(rdb, "users", 100*time.Millisecond, 10) // 10 per second, 10 at once
//	handler := httplimit.Rate(users, httplimit.Key(user))(mux)
//
// A decision is one script and one round trip. The time is the server's, so that the clocks
// of the machines do not matter. What a network adds to the laws of a limiter is said at
// Limiter; what it costs, and when a limit in each machine is the better choice, in the README.
//
// There is no decision if the server cannot be asked. What comes then is a choice, and it is
// about the envelope, what can be granted in any time of length L:
//
//   - By default Take returns an error, and httplimit answers 503 Service Unavailable.
//     Nothing is granted on top of the envelope, rate * L + burst.
//   - With [FailTo] another Taker decides, usually a limiter in memory. The envelope grows by
//     that of each machine's, as long as the server is away.
//   - With [FailOpen] everything is granted that could be granted at all: there is no
//     envelope meanwhile.
//
// What is granted meanwhile is not counted when the server is back.
package redislimit
