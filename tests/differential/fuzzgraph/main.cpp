// kerf_fuzzgraph: generates graphs, checks them, reports what differs. Exit code 1 when something does.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "engine/ir/printer.h"
#include "engine/mathlib/math_threads.h"
#include "engine/support/thread_pool.h"
#include "tests/differential/fuzzgraph/campaign.h"

namespace kerf::fuzzgraph {
namespace {

constexpr const char* usage = R"(usage: kerf_fuzzgraph [options]
  --seed N       seed of the first graph (1); the next graph has the next
  --count N      graphs (100)
  --ops N        calls in each graph (from 3 to 80, mostly few)
  --only OP...   only overloads with one of these in their name; "higher_order" for those
  --ways N       ways to compile besides the default one (2), or "all"
  --jobs N       graphs at a time (1)
  --minutes M    begin no graph after that time
  --keep DIR     minify each find and write it there
  --most N       finds to keep (20)
  --show         print the graph of the seed and end
  --missing      name the overloads that no graph called
  --quiet        say nothing of single finds
)";

template <class T>
bool readNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

struct Arguments {
  CampaignOptions campaign;
  std::size_t most = 20;
  bool show = false, missing = false;
};

using Setter = bool (*)(Arguments&, std::string_view value);
struct NumberOption {
  std::string_view name;
  Setter set;
};
constexpr NumberOption valueOptions[] = {
    {"--seed", [](Arguments& a, std::string_view v) { return readNumber(v, a.campaign.seed); }},
    {"--count", [](Arguments& a, std::string_view v) { return readNumber(v, a.campaign.count); }},
    {"--ops", [](Arguments& a, std::string_view v) { return readNumber(v, a.campaign.calls); }},
    {"--jobs", [](Arguments& a, std::string_view v) { return readNumber(v, a.campaign.jobs) && a.campaign.jobs > 0; }},
    {"--minutes", [](Arguments& a, std::string_view v) { return readNumber(v, a.campaign.minutes); }},
    {"--most", [](Arguments& a, std::string_view v) { return readNumber(v, a.most); }},
    {"--keep", [](Arguments& a, std::string_view v) { return a.campaign.keep = v, !v.empty(); }},
    {"--ways",
     [](Arguments& a, std::string_view v) {
       if (v == "all") return a.campaign.ways = -1, true;
       return readNumber(v, a.campaign.ways) && a.campaign.ways >= 0;
     }},
};

bool readFlag(Arguments& arguments, std::string_view text) {
  if (text == "--show") return arguments.show = true;
  if (text == "--missing") return arguments.missing = true;
  if (text == "--quiet") return arguments.campaign.verbose = false, true;
  return false;
}

std::optional<Arguments> readArguments(std::span<char*> given) {
  Arguments arguments;
  arguments.campaign.verbose = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view text = given[i];
    if (readFlag(arguments, text)) continue;
    if (text == "--only") {
      while (i + 1 < given.size() && given[i + 1][0] != '-') arguments.campaign.only.emplace_back(given[++i]);
      if (arguments.campaign.only.empty()) return {};
      continue;
    }
    const auto option = std::ranges::find(valueOptions, text, &NumberOption::name);
    if (option == std::end(valueOptions) || i + 1 >= given.size() || !option->set(arguments, given[++i])) return {};
  }
  return arguments;
}

int show(const CampaignOptions& options) {
  const auto graph = generateGraph({options.seed, options.calls, options.only});
  if (!graph) return std::fprintf(stderr, "%s\n", graph.error().text().c_str()), 1;
  std::printf("%s\n", printReadable(graph->candidate.module, {.annotateValues = true, .includeStride = true}).c_str());
  return 0;
}

/// One find of each seed, those of one kind in turn.
void keepFinds(const Arguments& arguments, const CampaignReport& report) {
  std::set<std::uint64_t> seen;
  std::size_t kept = 0;
  for (const Find& find : report.finds) {
    if (kept >= arguments.most || !seen.insert(find.seed).second) continue;
    const auto& options = arguments.campaign;
    const auto path = keepFind(find, {find.seed, options.calls, options.only}, options.keep);
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(find.seed),
                 path ? path->c_str() : path.error().text().c_str());
    ++kept;
  }
}

int run(std::span<char*> given) {
  const auto arguments = readArguments(given);
  if (!arguments) return std::fputs(usage, stderr), 2;
  setThreadCount(1);
  setMathThreads(1);
  if (arguments->show) return show(arguments->campaign);
  const auto report = Campaign(arguments->campaign).run();
  if (!report) return std::fprintf(stderr, "%s\n", report.error().text().c_str()), 3;
  std::fputs(reportText(*report, arguments->missing).c_str(), stdout);
  if (!arguments->campaign.keep.empty()) keepFinds(*arguments, *report);
  return report->finds.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kerf::fuzzgraph

int main(int count, char** values) { return kerf::fuzzgraph::run({values + 1, std::size_t(count - 1)}); }
