package redislimit_test

import (
	"bufio"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/redislimit"
	"github.com/redis/go-redis/v9"
)

// A process is a real server, on a port of the loopback interface.
type process struct {
	t    *testing.T
	bin  string
	addr string
	args []string
	cmd  *exec.Cmd
}

// startProcess starts redis-server or valkey-server, which ends with the test, or skips it.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if bin, err := exec.LookPath(name); err == nil && p.bin == "" {
			p.bin = bin
		}
	}
	if p.bin == "" {
		t.Skip("there is no redis-server and no valkey-server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // for a port that is free
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(p.addr)
	p.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", ""}, args...)
	p.start()
	t.Cleanup(p.kill)
	return p
}

// start returns when the server says that it is ready.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.bin, p.args...)
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said = append(said, lines.Text()); strings.Contains(lines.Text(), "Ready to accept connections") {
			return
		}
	}
	p.t.Fatalf("%s ended: %s", p.bin, strings.Join(said, "\n"))
}

// kill ends the server as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// realAddr is the address of a server that is not in memory: REDIS_ADDR, or one that is started.
func realAddr(t *testing.T) string {
	t.Helper()
	if addr := os.Getenv("REDIS_ADDR"); addr != "" {
		return addr
	}
	return startProcess(t).addr
}

// realName is a name that nobody else uses on a server.
func realName() string { return "redislimit-test-" + rand.Text() }

// On a real server the answers are those in memory too, to the last microsecond. The instants are
// the caller's; keys are there for a minute and more.
func TestRealServer_likeInMemory(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: realAddr(t)})
	defer rdb.Close()
	if info, err := rdb.InfoMap(ctx, "server").Result(); err != nil {
		t.Fatal(err)
	} else {
		t.Log("redis_version", info["Server"]["redis_version"])
	}
	for _, h := range histories(time.Minute) {
		name := realName()
		l := redislimit.New(rdb, name, h.interval, h.burst, redislimit.Timeout(patience))
		h.play(t, func(at time.Time, n int) (limiters.Decision, error) { return l.TakeAt(ctx, at, "a", n) })
		rdb.Del(ctx, name+":{a}")
	}
}

// On its own clock it grants the burst, says when to come again, and forgets the key then.
func TestRealServer_serversClock(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: realAddr(t)})
	defer rdb.Close()
	name := realName()
	l := redislimit.New(rdb, name, time.Hour, 3, redislimit.Timeout(patience))
	key := name + ":{a}"
	defer rdb.Del(ctx, key)
	for i := range 4 {
		d, err := l.Take(ctx, "a", 1)
		if err != nil || d.Allowed != (i < 3) || d.Remaining != max(0, 2-i) {
			t.Fatalf("Take %d = %+v, %v", i+1, d, err)
		}
		if i == 3 && (d.RetryAfter <= 0 || d.RetryAfter > time.Hour) {
			t.Errorf("RetryAfter is %v, want up to 1h", d.RetryAfter)
		}
	}
	if ttl := rdb.PTTL(ctx, key).Val(); ttl <= 0 || ttl > 3*time.Hour+2*time.Millisecond {
		t.Errorf("the key expires in %v, want up to 3h and 2ms", ttl)
	}
}
