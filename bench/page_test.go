package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/bench"
	"github.com/ralph-compiler/ralph/bench/simulated"
	"github.com/ralph-compiler/ralph/executor/journal"
)

// listeners are streams that are open while the page is measured.
const listeners = 1000 // a tenth in a check

// opening is how many of them connect at once: a server gives a client some seconds to ask,
// and on a busy machine a thousand cannot.
var opening = make(chan struct{}, 20)

// served is a ralph ui about one repository.
type served struct {
	b     testing.TB
	cmd   *exec.Cmd
	url   string
	token string
	ready time.Duration
}

func serve(b testing.TB, ralph, dir string) *served {
	b.Helper()
	s := &served{b: b, cmd: exec.Command(ralph, "ui", "--no-open")}
	var said bytes.Buffer
	s.cmd.Dir, s.cmd.Stderr, s.cmd.WaitDelay = dir, &said, time.Second
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, _ = s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait(); b.Failed() {
			b.Logf("ralph ui said: %s", &said)
		}
	})
	link := bufio.NewScanner(out)
	for link.Scan() {
		if url, token, is := strings.Cut(link.Text(), "/#t="); is {
			s.url, s.token, s.ready = url, token, time.Since(began)
			return s
		}
	}
	b.Fatal("ralph ui printed no link")
	return nil
}

// get asks for a path, and returns how long the answer took.
func (s *served) get(client *http.Client, path string) ([]byte, time.Duration) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.url+"/api/v1"+path, nil)
	if err != nil {
		s.b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		s.b.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err = errorsOf(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		s.b.Fatalf("GET %s: %d %v %.200s", path, resp.StatusCode, err, body)
	}
	return body, time.Since(began)
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// listen opens a stream and tells of each event's number when it comes.
func (s *served) listen(ctx context.Context, path string, open *sync.WaitGroup, tell func(seq int64)) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1"+path, nil)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	opening <- struct{}{}
	resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	<-opening
	open.Done()
	if err != nil {
		s.b.Error(err)
		return
	}
	defer resp.Body.Close()
	lines, last := bufio.NewReaderSize(resp.Body, 8<<10), int64(0)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if ctx.Err() == nil {
				s.b.Errorf("a stream ended: %v", err)
			}
			return
		}
		if data, is := strings.CutPrefix(line, "data: "); is {
			var e struct{ Seq int64 }
			if json.Unmarshal([]byte(data), &e) == nil && e.Seq > last { // else it tells of the lock
				last = e.Seq
				tell(e.Seq)
			}
		}
	}
}

// BenchmarkPage: ralph ui on 10,000 sprints with some 120,000 events: until the link is
// printed, the first and the next answers, requests per second beside 1,000 listeners,
// and how long events take to all of them.
func BenchmarkPage(b *testing.B) {
	ralph, _, _, _ := bench.Programs(b)
	dir := filepath.Join(b.TempDir(), "big")
	n, err := simulated.Make(ralph, bench.Size(10_000), dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		measurePage(b, ralph, dir, n)
	}
}

func measurePage(b *testing.B, ralph, dir string, n *simulated.Night) {
	lock, err := journal.Acquire(n.State, journal.Owner{PID: os.Getpid(), Started: time.Now(), Command: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	s := serve(b, ralph, dir)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var repos []struct{ Epics []struct{ ID string } }
	body, _ := s.get(client, "/repos")
	if err := json.Unmarshal(body, &repos); err != nil || len(repos) != 1 || len(repos[0].Epics) != 1 {
		b.Fatalf("%v %s", err, body)
	}
	at := "/epics/" + repos[0].Epics[0].ID
	for name, path := range map[string]string{"epic": at, "graph": at + "/graph", "status": at + "/status", "inbox": "/inbox"} {
		_, took := s.get(client, path)
		b.ReportMetric(float64(took.Microseconds())/1000, name+"-first-ms")
	}
	b.ReportMetric(float64(s.ready.Milliseconds()), "link-ms")

	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var open sync.WaitGroup
	var got atomic.Int64
	behind := int64(n.Events) // tell moves it
	sent := make([]time.Time, len(n.Rest)+1)
	var mu sync.Mutex
	var late []time.Duration
	streams := bench.Size(listeners)
	for range streams {
		open.Add(1)
		go s.listen(ctx, at+"/events", &open, func(seq int64) {
			now := time.Now()
			if i := seq - behind - 1; i >= 0 && i < int64(len(sent)) {
				mu.Lock()
				late = append(late, now.Sub(sent[i]))
				mu.Unlock()
				got.Add(1)
			}
		})
	}
	open.Wait()
	rate, p99 := s.storm(at + "/status")
	b.ReportMetric(rate, "req/s")
	b.ReportMetric(float64(p99.Microseconds())/1000, "req-p99-ms")
	tell(b, n, sent)
	const told = 250
	for end := time.Now().Add(20 * time.Second); got.Load() < int64(told*streams) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(late)
	b.ReportMetric(float64(told*streams-len(late)), "events-lost")
	if len(late) > 0 {
		b.ReportMetric(float64(late[len(late)*99/100].Milliseconds()), "event-p99-ms")
	}
	cancel()
	if err := errorsOf(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait(), lock.Release()); err != nil {
		b.Log(err)
	}
}

// storm asks for a path from 8 clients, 20,000 times, and returns the rate and the 99th
// percentile. One of the clients gets whole answers.
func (s *served) storm(path string) (perSecond float64, p99 time.Duration) {
	const clients, each = 8, 2500
	var wait sync.WaitGroup
	took := make([][]time.Duration, clients)
	began := time.Now()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	etag := s.etag(client, path)
	for i := range clients {
		wait.Go(func() {
			for range each {
				req, err := http.NewRequest(http.MethodGet, s.url+"/api/v1"+path, nil)
				if err != nil {
					panic(err)
				}
				req.Header.Set("Authorization", "Bearer "+s.token)
				if i > 0 { // the others ask for what has not changed
					req.Header.Set("If-None-Match", etag)
				}
				at := time.Now()
				resp, err := client.Do(req)
				if err != nil {
					panic(fmt.Sprintf("GET %s: %v", path, err))
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				took[i] = append(took[i], time.Since(at))
			}
		})
	}
	wait.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return float64(len(all)) / time.Since(began).Seconds(), all[len(all)*99/100]
}

func (s *served) etag(client *http.Client, path string) string {
	req, err := http.NewRequest(http.MethodGet, s.url+"/api/v1"+path, nil)
	if err != nil {
		s.b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := client.Do(req)
	if err != nil {
		s.b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.Header.Get("ETag")
}

// tell appends 250 of the events that come after the night, 50 a second.
func tell(b *testing.B, n *simulated.Night, sent []time.Time) {
	log, err := journal.Open(n.State, n.Epic.Epic.ID)
	if err != nil {
		b.Fatal(err)
	}
	for _, err := range log.Events(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; i < 250; i += 5 {
		<-tick.C
		now := time.Now()
		for k := i; k < i+5; k++ {
			sent[k] = now
		}
		if err := log.Append(b.Context(), n.Rest[i:i+5]); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	n.Events, n.Rest = n.Events+250, n.Rest[250:]
}
