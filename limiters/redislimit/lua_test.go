package redislimit_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"os"
	"strings"
	"sync"
	"testing"

	proto "github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// keptLua runs scripts for miniredis on one Lua state. By itself miniredis makes a state for
// each call, which takes most of the time of thousands of schedules.
type keptLua struct {
	server  *proto.Server
	mu      sync.Mutex
	state   *lua.LState
	scripts map[string]*lua.LFunction // by their digests
}

// keepLua lets s keep its Lua state, unless ESCAPEMENT_PROVE=1 runs the suite on miniredis as
// it is.
func (s *server) keepLua(t *testing.T) {
	if os.Getenv("ESCAPEMENT_PROVE") != "" && !testing.Short() {
		return
	}
	rdb := s.connect()
	defer rdb.Close()
	if err := rdb.Ping(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	k := &keptLua{server: s.Server(), state: lua.NewState(), scripts: map[string]*lua.LFunction{}}
	t.Cleanup(k.state.Close)
	module := k.state.NewTable()
	k.state.SetFuncs(module, map[string]lua.LGFunction{
		"call":               k.call,
		"replicate_commands": func(*lua.LState) int { return 0 },
	})
	k.state.SetGlobal("redis", module)
	s.Server().SetPreHook(k.serve)
}

// serve answers a command that runs a script it knows, or is told.
func (k *keptLua) serve(c *proto.Peer, cmd string, args ...string) bool {
	if cmd != "EVAL" && cmd != "EVALSHA" || len(args) < 3 || args[1] != "1" {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	digest := args[0]
	if cmd == "EVAL" {
		sum := sha1.Sum([]byte(args[0]))
		digest = hex.EncodeToString(sum[:])
		if k.scripts[digest] == nil {
			f, err := k.state.Load(strings.NewReader(args[0]), "script")
			if err != nil {
				c.WriteError("ERR " + err.Error())
				return true
			}
			k.scripts[digest] = f
		}
	}
	f := k.scripts[digest]
	if f == nil {
		return false
	}
	k.state.SetGlobal("KEYS", k.table(args[2:3]))
	k.state.SetGlobal("ARGV", k.table(args[3:]))
	k.state.Push(f)
	if err := k.state.PCall(0, 1, nil); err != nil {
		c.WriteError("ERR " + err.Error())
		return true
	}
	reply, ok := k.state.Get(-1).(*lua.LTable)
	k.state.Pop(1)
	if !ok {
		c.WriteError("ERR the scripts of these tests return tables")
		return true
	}
	c.WriteLen(reply.Len())
	reply.ForEach(func(_, v lua.LValue) {
		if n, ok := v.(lua.LNumber); ok {
			c.WriteInt(int(n))
		} else {
			c.WriteBulk(v.String())
		}
	})
	return true
}

func (k *keptLua) table(all []string) *lua.LTable {
	t := k.state.NewTable()
	for _, s := range all {
		t.Append(lua.LString(s))
	}
	return t
}

// call is redis.call: miniredis runs the command.
func (k *keptLua) call(l *lua.LState) int {
	var args []string
	for i := range l.GetTop() {
		args = append(args, l.Get(i+1).String())
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	k.server.Dispatch(proto.NewPeer(w), args)
	_ = w.Flush()
	reply, err := proto.ParseReply(bufio.NewReader(&out))
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	switch r := reply.(type) {
	case nil:
		l.Push(lua.LFalse)
	case string:
		l.Push(lua.LString(r))
	case []any:
		t := l.NewTable()
		for _, v := range r {
			t.Append(lua.LString(v.(string)))
		}
		l.Push(t)
	default:
		l.Push(lua.LTrue) // OK
	}
	return 1
}
