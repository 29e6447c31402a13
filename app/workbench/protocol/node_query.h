// NodeQuery: the nodes of a graph that fit a description such as `op:relu users>1 shape:*x512 not:dtype:bf16 fc`.
//
//   query  = term*, all of which must hold
//   term   = ("not:" | "-") term | field ":" texts | figure compare number | "is:" state | "diverged" | word
//   texts  = text ("," text)*, of which one must fit; "*" and "?" stand for any letters; "…" for texts with spaces
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/workbench/protocol/graphs.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// What is known of a node beside its document.
struct NodeFacts {
  bool diverged = false;                  ///< its value left the reference
  bool firstBad = false;                  ///< the first one that did
  bool added = false, rewritten = false;  ///< against the graph that it is compared with
  bool pinned = false, noted = false;
};

struct QueryTerm;

class NodeQuery {
 public:
  /// Upper and lower case are the same. BadUsage with a sentence that names the word that cannot be understood.
  static Result<NodeQuery> parse(std::string_view text);
  bool empty() const { return m_terms.empty(); }
  bool matches(const NodeDoc& node, const NodeFacts& facts = {}) const;
  /// States that the query asks for and that a graph alone does not tell: "diverged", "firstbad", …
  std::set<std::string> factsAskedFor() const;

 private:
  std::vector<QueryTerm> m_terms;
};

/// One term, as it was read.
struct QueryTerm {
  enum class Kind { Word, Text, Figure, State };
  enum class Compare { Less, LessEqual, Equal, NotEqual, GreaterEqual, Greater };
  Kind kind = Kind::Word;
  bool negated = false;
  std::size_t row = 0;             ///< in the table of fields, figures or states
  std::vector<std::string> texts;  ///< in lower case; one of them must fit
  Compare compare = Compare::Equal;
  double number = 0;
};

/// A word of the query language, for help and completion.
struct QueryWord {
  std::string_view word;  ///< "op:", "users", "is:unused"
  std::string_view what;
};
std::vector<QueryWord> queryWords();

/// Elements of a node's value, summed over its tensors; -1 where a size is symbolic or nothing is known.
std::int64_t elementsOf(const NodeDoc& node);
/// The same in bytes.
std::int64_t bytesOf(const NodeDoc& node);

}  // namespace kerf::workbench
