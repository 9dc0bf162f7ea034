package sandbox

import (
	"net"
	"testing"
	"time"
)

// TestARelayHasSoManyPlaces: who opens connections without end takes no more descriptors of
// ralph's, and whoever waits gets through once there is a place.
func TestARelayHasSoManyPlaces(t *testing.T) {
	server, in := listened(t), listened(t)
	came := make(chan net.Conn, 2*maxRelayed)
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			came <- c
		}
	}()
	r := newRelay(in, server.Addr().String())
	var clients []net.Conn
	for range maxRelayed + 20 {
		c, err := net.Dial("tcp", in.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		clients = append(clients, c)
	}
	next := func(wait time.Duration) net.Conn {
		select {
		case c := <-came:
			t.Cleanup(func() { _ = c.Close() })
			return c
		case <-time.After(wait):
			return nil
		}
	}
	var first net.Conn
	for range maxRelayed {
		if first = next(10 * time.Second); first == nil {
			t.Fatal("it carries too few")
		}
	}
	if next(200*time.Millisecond) != nil {
		t.Fatal("it carries too many")
	}
	_ = first.Close()
	for _, c := range clients {
		_ = c.(*net.TCPConn).CloseWrite() // theirs ends with it
	}
	if next(10*time.Second) == nil {
		t.Error("who waits gets no place that is free")
	}
	done := make(chan struct{})
	go func() { r.close(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it does not end while others wait for a place")
	}
}

func listened(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
