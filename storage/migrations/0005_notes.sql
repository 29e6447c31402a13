R"sql(
-- Schema 5. Bookmarks and remarks of people at nodes, by the content of the graph. Never edited after release: changes
-- go into the next numbered file.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  graph_hash TEXT NOT NULL,
  node TEXT NOT NULL,
  text TEXT NOT NULL,
  capture TEXT NOT NULL,
  graph TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  UNIQUE (graph_hash, node)
)
)sql"
