package modeltest

import (
	"fmt"
	"net/http"
)

// play fails a request; done is closed when the server ends.
func (f Fault) play(w http.ResponseWriter, r *http.Request, a answer, p Protocol, done <-chan struct{}) {
	switch f.Kind {
	case Hang, HangSilent:
		if f.Kind == Hang {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			if fl, ok := w.(http.Flusher); ok {
				fl.Flush()
			}
		}
		select {
		case <-r.Context().Done():
		case <-done:
		}
		panic(http.ErrAbortHandler) // no end of the stream, as if it still hung
	case Drop:
		panic(http.ErrAbortHandler)
	case Malformed:
		w.Header().Set("Content-Type", "text/event-stream")
		a.line("data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"conte\n\ndata: not json\n\n")
	case Truncate:
		a.text, a.calls, a.cut, a.stream = "I was about to say something long when", nil, true, true
		a.send(p)
		if fl, ok := w.(http.Flusher); ok {
			fl.Flush()
		}
		panic(http.ErrAbortHandler)
	default:
		for k, v := range f.Headers {
			w.Header().Set(k, v)
		}
		if f.Body == "" {
			writeJSON(w, f.Status, failed(p, f.Status, fmt.Sprintf("scripted failure %d", f.Status)))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		a.line(f.Body)
	}
}

// failed is an error as a protocol writes it.
func failed(p Protocol, status int, message string) fields {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest, http.StatusNotFound:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case 529:
		kind = "overloaded_error"
	}
	if p == Messages {
		return fields{"type": "error", "error": fields{"type": kind, "message": message}}
	}
	return fields{"error": fields{"message": message, "type": kind, "code": nil, "param": nil}}
}
