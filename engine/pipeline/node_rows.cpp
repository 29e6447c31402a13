#include "engine/pipeline/node_rows.h"

#include <cmath>

namespace kerf::inline pipeline {
namespace {

bool worse(const NodeDivergence& a, const NodeDivergence& b) {
  if (a.same != b.same) return !a.same;
  const bool lost = std::isnan(a.ratioToLimit), lostBefore = std::isnan(b.ratioToLimit);
  return lost != lostBefore ? lost : a.ratioToLimit > b.ratioToLimit;
}

}  // namespace

NodeDivergence compareNode(std::string name, const Node& node, const Value& ref, const Value& res, const Value& fp64,
                           const SameOptions& options) {
  return rowOf(std::move(name), std::string(node.target()), same(ref, res, fp64, options));
}

NodeDivergence rowOf(std::string name, std::string target, const SameReport& report) {
  NodeDivergence row;
  row.node = std::move(name);
  row.target = std::move(target);
  row.same = report.same;
  if (report.outputs.empty()) return row;
  const OutputVerdict& verdict = report.outputs.front();
  row.rmseRes = verdict.rmseRes;
  row.rmseRef = verdict.rmseRef;
  row.ratioToLimit = verdict.ratioToLimit;
  row.maxAbsError = verdict.maxAbsError;
  row.elements = verdict.elements;
  row.finite = verdict.finite;
  return row;
}

void DivergenceRows::add(NodeDivergence row) {
  const auto [known, isNew] = m_places.try_emplace(row.node, m_report.nodes.size());
  if (!isNew && !worse(row, m_report.nodes[known->second])) return;
  if (isNew)
    m_report.nodes.push_back(row);
  else
    m_report.nodes[known->second] = row;
  if (m_options.onNode) m_options.onNode(row, progress);
}

void DivergenceRows::note(const std::string& path, const std::string& why) {
  if (!m_noted.insert(path).second) return;
  m_report.nestedNote +=
      fmt::format("{}{} was not compared inside: {}", m_report.nestedNote.empty() ? "" : "; ", path, why);
}

void DivergenceRows::noteFp64(const std::string& why) {
  if (m_report.fp64Note.empty()) m_report.fp64Note = why;
}

}  // namespace kerf::inline pipeline
