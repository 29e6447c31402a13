R"sql(
-- Schema 4. Graphs on which a reduction met another failure than the one it was after: one for each fingerprint, the
-- smallest. Never edited after release: changes go into the next numbered file.
CREATE TABLE slips (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reduction INTEGER NOT NULL REFERENCES reductions(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  detail TEXT NOT NULL,
  tests INTEGER NOT NULL,
  graph_hash TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  content TEXT NOT NULL REFERENCES contents(hash),
  UNIQUE (reduction, position)
);
CREATE INDEX slips_by_content ON slips(content)
)sql"
