package httplimit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters/httplimit"
	"github.com/escapement-go/escapement/synctestcompat"
)

// In a bubble, a request under way at the end is answered, and one that comes later is not.
func TestService_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		listener := httplimit.NewPipes()
		began := time.Now()
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Second)
			io.WriteString(w, "late")
		})
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- service(ctx, listener, &http.Server{Handler: slow}) }()
		transport := &http.Transport{DialContext: listener.Dial}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		answered := make(chan string, 1)
		go func() { answered <- get(client, "http://service/") }()
		synctestcompat.Sleep(time.Second)
		stop()
		synctestcompat.Wait()
		if got := get(client, "http://service/"); !strings.Contains(got, net.ErrClosed.Error()) {
			t.Errorf("after the end: %s", got)
		}
		if got := <-answered; got != "200 late" {
			t.Errorf("before the end: %s", got)
		}
		if err := <-ended; err != nil || time.Since(began) > 6*time.Second {
			t.Errorf("service() = %v after %v", err, time.Since(began))
		}
	})
}

// get returns the status and the body, or the error.
func get(client *http.Client, url string) string {
	res, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(res.StatusCode, " ", string(body))
}

// Over a loopback socket, with a real client, nothing of what a server can do is lost. No
// part of it depends on how long anything takes.
func TestService_loopback(t *testing.T) {
	for name, tt := range map[string]struct {
		protocol func(*http.Protocols)
		proto    string
	}{
		"HTTP/1.1": {func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/1.1"},
		"h2c":      {func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Skipf("no loopback socket: %v", err)
			}
			read := make(chan struct{})
			server := &http.Server{Handler: abilities(read), Protocols: new(http.Protocols)}
			tt.protocol(server.Protocols)
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() {
				ended <- service(ctx, listener, server, httplimit.WithClock(fakeclock.New()))
			}()
			defer func() {
				stop()
				if err := <-ended; err != nil {
					t.Errorf("service() = %v", err)
				}
			}()
			transport := &http.Transport{Protocols: server.Protocols}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			url := "http://" + listener.Addr().String()

			flushed(t, client, url+"/flush", tt.proto, read)
			if got := get(client, url+"/control"); got != "200 <nil>" {
				t.Errorf("ResponseController: %s", got)
			}
			if tt.proto == "HTTP/1.1" {
				hijacked(t, listener.Addr().String())
			}
			limited := ""
			for range 100 {
				limited = get(client, url+"/control")
			}
			if limited != "429 too many requests\n" {
				t.Errorf("one too many: %s", limited)
			}
		})
	}
}

// abilities is a handler that uses what a http.ResponseWriter can do.
func abilities(read chan struct{}) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/flush", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		<-read // The client has the first line before there is a second.
		io.WriteString(w, "second\n")
	})
	mux.HandleFunc("/control", func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		err := errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{}), c.EnableFullDuplex(), c.Flush())
		fmt.Fprint(w, err)
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer conn.Close()
		rw.WriteString("not HTTP any more\n")
		rw.Flush()
	})
	return mux
}

// flushed reads the first line of a response that is not complete yet.
func flushed(t *testing.T, client *http.Client, url, proto string, read chan struct{}) {
	t.Helper()
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	first, err := body.ReadString('\n')
	close(read)
	rest, _ := io.ReadAll(body)
	if err != nil || first+string(rest) != "first\nsecond\n" || res.Proto != proto {
		t.Errorf("flushed %q, then %q, %v by %s, want %s", first, rest, err, res.Proto, proto)
	}
	if got := res.Header.Get("RateLimit"); !strings.HasPrefix(got, `"default";r=99;`) {
		t.Errorf("RateLimit: %s", got)
	}
}

// hijacked reads what a handler writes past the server.
func hijacked(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /hijack HTTP/1.1\r\nHost: %s\r\n\r\n", addr)
	if got, err := io.ReadAll(conn); err != nil || string(got) != "not HTTP any more\n" {
		t.Errorf("hijacked: %q, %v", got, err)
	}
}
