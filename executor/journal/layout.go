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
// when they are asked for, so they cost nothing to write and cannot be stale.
const views = `
CREATE VIEW log AS SELECT seq,
	strftime('%Y-%m-%dT%H:%M:%fZ', (body ->> 'at') / 1000.0, 'unixepoch') AS at,
	body ->> 'kind' AS kind, coalesce(body ->> 'node', '') AS node, coalesce(body ->> 'step', '') AS step,
	coalesce(body ->> 'attempt', 0) AS attempt, body -> 'data' AS data FROM events;
CREATE VIEW runs AS SELECT s.seq, s.at AS started, e.at AS ended, s.data ->> 'digest' AS digest, s.data ->> 'by' AS by,
	coalesce(e.data ->> 'interrupted', 0) AS interrupted, e.data -> 'counts' AS counts
	FROM log s LEFT JOIN log e ON e.kind = 'run.ended' AND e.seq = (
		SELECT min(seq) FROM log x WHERE x.seq > s.seq AND x.kind IN ('run.ended', 'run.started'))
	WHERE s.kind = 'run.started';
CREATE VIEW nodes AS SELECT node, (data ->> 'key') AS key, status, max(seq) AS seq, at, reason, result FROM (
	SELECT seq, at, node, data,
		CASE kind WHEN 'node.started' THEN 'running' WHEN 'node.resumed' THEN 'running' WHEN 'node.waiting' THEN 'waiting'
			WHEN 'node.blocked' THEN 'blocked' ELSE 'done' END AS status,
		CASE kind WHEN 'node.blocked' THEN data ->> 'reason' WHEN 'node.waiting' THEN data ->> 'detail' END AS reason,
		CASE kind WHEN 'node.done' THEN data -> 'result' ->> 'commit' END AS result
	FROM log WHERE kind IN ('node.started', 'node.resumed', 'node.waiting', 'node.blocked', 'node.done'))
	GROUP BY node;
CREATE VIEW attempts AS SELECT s.node, s.step, s.attempt, s.seq, s.at AS started, e.at AS ended,
	coalesce(e.data ->> 'status', 'running') AS status, e.data ->> 'reason' AS reason
	FROM log s LEFT JOIN log e ON e.kind = 'attempt.ended' AND e.node = s.node AND e.step = s.step AND e.attempt = s.attempt
	WHERE s.kind = 'attempt.started';
CREATE VIEW gates AS SELECT node, step, attempt, seq, at, data ->> 'gate' AS gate, data ->> 'verdict' AS verdict,
	data ->> 'tests' AS tests, data ->> 'ms' AS ms, data ->> 'message' AS message FROM log WHERE kind = 'gate.judged';
CREATE VIEW decisions AS SELECT seq, at, node, data ->> 'verb' AS verb, data ->> 'by' AS by, data ->> 'message' AS message
	FROM log WHERE kind = 'decided';
`

// layout is a whole new file.
var layout = tables + views + fmt.Sprintf("PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, format)
