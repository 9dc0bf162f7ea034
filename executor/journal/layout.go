package journal

import "fmt"

// format is the version of the file's layout; events have their own version.
const format = 2

// applicationID marks the file as ralph's ("RLPH").
const applicationID = 0x524c5048

// tables hold what is written: events once and for all, letters until answered.
const tables = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE events (
	seq  INTEGER PRIMARY KEY,
	hash TEXT NOT NULL, -- of the hash before and body
	body TEXT NOT NULL  -- the event as JSON
) STRICT;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_keep BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
` + inboxTable

// inboxTable came with format 2.
const inboxTable = `
CREATE TABLE inbox (
	number   INTEGER PRIMARY KEY,  -- order of arrival
	id       TEXT NOT NULL UNIQUE, -- of the decision
	node     TEXT NOT NULL,        -- "" is the run
	decision TEXT NOT NULL,        -- as JSON
	answered INTEGER NOT NULL DEFAULT 0,
	refused  TEXT NOT NULL DEFAULT '' -- why; '' is taken, once it is answered
) STRICT;
CREATE INDEX inbox_open ON inbox(number) WHERE answered = 0;
`

// views are projections for other readers: they are computed from the events
// when they are asked for, so they cost nothing to write and cannot be stale. Each
// is one pass over the events (about a second for 150,000), never a join of them
// with themselves.
const views = `
CREATE VIEW log AS SELECT seq,
	strftime('%Y-%m-%dT%H:%M:%fZ', (body ->> 'at') / 1000.0, 'unixepoch') AS at,
	body ->> 'kind' AS kind, coalesce(body ->> 'node', '') AS node, coalesce(body ->> 'step', '') AS step,
	coalesce(body ->> 'attempt', 0) AS attempt, body -> 'data' AS data FROM events;
CREATE VIEW runs AS SELECT seq, at AS started, CASE WHEN next = 'run.ended' THEN next_at END AS ended,
	data ->> 'digest' AS digest, data ->> 'by' AS by,
	CASE WHEN next = 'run.ended' THEN coalesce(next_data ->> 'interrupted', 0) ELSE 0 END AS interrupted,
	CASE WHEN next = 'run.ended' THEN next_data -> 'counts' END AS counts
	FROM (SELECT kind, seq, at, data, lead(kind) OVER w AS next, lead(at) OVER w AS next_at, lead(data) OVER w AS next_data
		FROM log WHERE kind IN ('run.started', 'run.ended') WINDOW w AS (ORDER BY seq))
	WHERE kind = 'run.started';
CREATE VIEW nodes AS SELECT node, (data ->> 'key') AS key, status, max(seq) AS seq, at, reason, result FROM (
	SELECT seq, at, node, data,
		CASE kind WHEN 'node.started' THEN 'running' WHEN 'node.resumed' THEN 'running' WHEN 'node.waiting' THEN 'waiting'
			WHEN 'node.blocked' THEN 'blocked' WHEN 'node.recovered' THEN data ->> 'status' ELSE 'done' END AS status,
		CASE kind WHEN 'node.blocked' THEN data ->> 'reason' WHEN 'node.recovered' THEN data ->> 'reason' WHEN 'node.waiting' THEN data ->> 'detail' END AS reason,
		CASE kind WHEN 'node.done' THEN data -> 'result' ->> 'commit' WHEN 'node.recovered' THEN data -> 'success' -> 'result' ->> 'commit' END AS result
	FROM log WHERE kind IN ('node.started', 'node.resumed', 'node.waiting', 'node.blocked', 'node.done', 'node.recovered'))
	GROUP BY node;
CREATE VIEW attempts AS SELECT node, step, attempt, min(seq) AS seq,
	min(CASE kind WHEN 'attempt.started' THEN at END) AS started, max(CASE kind WHEN 'attempt.ended' THEN at END) AS ended,
	coalesce(max(CASE kind WHEN 'attempt.ended' THEN data ->> 'status' END), 'running') AS status,
	max(CASE kind WHEN 'attempt.ended' THEN data ->> 'reason' END) AS reason
	FROM log WHERE kind IN ('attempt.started', 'attempt.ended') GROUP BY node, step, attempt;
CREATE VIEW gates AS SELECT node, step, attempt, seq, at, data ->> 'gate' AS gate, data ->> 'verdict' AS verdict,
	data ->> 'tests' AS tests, data ->> 'ms' AS ms, data ->> 'message' AS message FROM log WHERE kind = 'gate.judged';
CREATE VIEW decisions AS SELECT seq, at, node, data ->> 'verb' AS verb, data ->> 'by' AS by, data ->> 'message' AS message
	FROM log WHERE kind = 'decided';
`

// layout is a whole new file.
var layout = tables + views + fmt.Sprintf("PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, format)
