#include "minifier/triage/triage.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "engine/support/atomic_file.h"
#include "engine/support/error.h"
#include "engine/support/html.h"
#include "engine/support/log.h"
#include "engine/support/printable.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline minifier::inline triage {

namespace {

namespace fs = std::filesystem;
using State = TriagedGraph::State;

std::string joined(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

std::size_t countOf(const TriageOutcome& triage, State state) {
  return std::size_t(std::ranges::count(triage.rows, state, &TriagedGraph::state));
}

std::string summary(const TriageOutcome& triage) {
  auto text = fmt::format("{} failing in {} clusters, {} passing, {} that cannot be tested, {} not opened",
                          countOf(triage, State::Fails), triage.clusters.size(), countOf(triage, State::Passes),
                          countOf(triage, State::CannotTest), countOf(triage, State::NotOpened));
  if (const auto other = countOf(triage, State::FailsDifferently); other > 0)
    text += fmt::format(", {} that fail in another way", other);
  if (triage.cancelled) text += fmt::format("; stopped, {} not reached", countOf(triage, State::NotReached));
  return text;
}

/// "40 -> 3 nodes, 17 tests, minimal".
std::string sizeText(const TriagedGraph& row) {
  if (row.nodes == 0) return row.trouble.empty() ? "not minified" : "not minified: " + row.trouble;
  auto text = fmt::format("{} -> {} nodes, {} tests, {}", row.startNodes, row.nodes, row.tests,
                          row.oneMinimal ? "minimal" : "not proven minimal");
  return row.trouble.empty() ? text : text + ": " + row.trouble;
}

std::string whatText(const TriagedGraph& row) {
  const auto text = row.fingerprint.empty() ? row.detail : row.fingerprint;
  return row.sameAs.empty() ? text : fmt::format("{} (the same graph as {})", text, row.sameAs);
}

const TriagedGraph& memberRow(const TriageOutcome& triage, int index) { return triage.rows[std::size_t(index)]; }

std::string memberLine(const TriagedGraph& row) { return fmt::format("{}: {}", rowName(row), sizeText(row)); }

std::string clusterFolder(const FailureCluster& cluster) { return fmt::format("cluster-{}", cluster.number); }

std::string reproText(const FailureCluster& cluster) {
  constexpr std::size_t most = 64 << 10;
  if (cluster.repro.empty()) return {};
  const auto file = mapFile(cluster.repro);
  if (!file || (*file)->view().size() > most) return {};
  const auto bytes = (*file)->view();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string clusterHtml(const TriageOutcome& triage, const FailureCluster& cluster) {
  auto out = fmt::format("<h2 id=\"c{0}\">Cluster {0}: <code>{1}</code></h2>\n<p>", cluster.number,
                         htmlText(cluster.fingerprint));
  if (!cluster.culprits.empty()) out += fmt::format("Culprit: <code>{}</code>. ", htmlText(joined(cluster.culprits)));
  if (!cluster.ops.empty()) out += fmt::format("Ops: <code>{}</code>. ", htmlText(joined(cluster.ops)));
  if (!cluster.repro.empty())
    out += fmt::format("Smallest: <a href=\"{0}/repro.py\">{0}/repro.py</a>, <a href=\"{0}/issue.md\">issue.md</a>.",
                       clusterFolder(cluster));
  out += "</p>\n<table><tr><th>Graph</th><th>Minified</th><th>Detail</th></tr>\n";
  for (const int index : cluster.members) {
    const auto& row = memberRow(triage, index);
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", htmlText(rowName(row)), htmlText(sizeText(row)),
                       htmlText(row.detail));
  }
  out += "</table>\n";
  if (const auto text = reproText(cluster); !text.empty())
    out += fmt::format("<details><summary>repro.py</summary><pre>{}</pre></details>\n", htmlText(text));
  return out;
}

std::string rowHtml(const TriagedGraph& row) {
  const auto where = row.cluster == 0 ? std::string() : fmt::format("<a href=\"#c{0}\">{0}</a>", row.cluster);
  return fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td></tr>\n", htmlText(rowName(row)),
                     row.state == State::Fails ? "bad" : "dim", stateName(row.state), where, htmlText(whatText(row)));
}

/// Members and their verdicts, one a line.
std::string membersText(const TriageOutcome& triage, const FailureCluster& cluster) {
  std::string out;
  for (const int index : cluster.members) out += escapedText(memberLine(memberRow(triage, index))) + "\n";
  return out;
}

Error cannotWrite(const fs::path& path, const std::error_code& problem) {
  return {ErrorCode::Environment, fmt::format("cannot write: {}", problem.message()), path.string()};
}

/// Only folders that an earlier report made: they have a list of members.
void removeOldClusters(const fs::path& folder) {
  std::error_code ignored;
  for (int number = 1; fs::exists(folder / fmt::format("cluster-{}", number) / "members.txt", ignored); ++number)
    fs::remove_all(folder / fmt::format("cluster-{}", number), ignored);
}

Result<void> writeCluster(const TriageOutcome& triage, FailureCluster& cluster, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return fail(cannotWrite(folder, problem));
  if (!cluster.repro.empty()) {
    fs::copy(fs::path(cluster.repro).parent_path(), folder,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing, problem);
    if (problem) return fail(cannotWrite(folder, problem));
    cluster.repro = (folder / "repro.py").string();
  }
  return writeTextFile(membersText(triage, cluster), folder / "members.txt");
}

}  // namespace

std::string_view stateName(State state) {
  constexpr std::string_view names[] = {"fails",      "passes",          "cannot be tested",
                                        "not opened", "fails otherwise", "not reached"};
  return names[std::size_t(state)];
}

std::string rowName(const TriagedGraph& row) { return row.graph.empty() ? row.capture : row.capture + "#" + row.graph; }

std::string triageText(const TriageOutcome& triage) {
  std::string out = summary(triage) + "\n";
  for (const auto& cluster : triage.clusters) {
    out += fmt::format("\ncluster {}: {}\n", cluster.number, escapedText(cluster.fingerprint));
    if (!cluster.culprits.empty()) out += fmt::format("  culprit  {}\n", escapedText(joined(cluster.culprits)));
    if (!cluster.ops.empty()) out += fmt::format("  ops      {}\n", escapedText(joined(cluster.ops)));
    if (!cluster.repro.empty()) out += fmt::format("  repro    {}/repro.py\n", clusterFolder(cluster));
    for (const int index : cluster.members)
      out += fmt::format("  {}\n", escapedText(memberLine(memberRow(triage, index))));
  }
  out += "\n";
  for (const auto& row : triage.rows)
    out += fmt::format("{:<16}  {}{}\n", stateName(row.state), escapedText(rowName(row)),
                       whatText(row).empty() ? "" : ": " + escapedText(whatText(row)));
  return out;
}

std::string triageHtml(const TriageOutcome& triage) {
  auto out = fmt::format("<h1>Triage</h1>\n<p>{}</p>\n", htmlText(summary(triage)));
  for (const auto& cluster : triage.clusters) out += clusterHtml(triage, cluster);
  out += "<h2>All graphs</h2>\n<table><tr><th>Graph</th><th>Verdict</th><th>Cluster</th><th>What</th></tr>\n";
  for (const auto& row : triage.rows) out += rowHtml(row);
  return htmlPage({"Triage", out + "</table>\n"});
}

Result<void> writeTriage(TriageOutcome& triage, const fs::path& folder) {
  removeOldClusters(folder);
  for (auto& cluster : triage.clusters) KERF_CHECK(writeCluster(triage, cluster, folder / clusterFolder(cluster)));
  KERF_CHECK(writeTextFile(triageText(triage), folder / "report.txt"));
  KERF_CHECK(writeTextFile(triageHtml(triage), folder / "report.html"));
  triage.report = (folder / "report.html").string();
  return {};
}

}  // namespace kerf::inline minifier::inline triage
