// kerf_seeded_changes: changes recorded stages and reports which changes verifying does not see. Exit code 1 for those.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/differential/seededchanges/campaign.h"

namespace kerf::seededchanges {
namespace {

constexpr const char* usage = R"(usage: kerf_seeded_changes [options] LOG...
  --seed N    another seed makes other changes (1)
  --count N   changes with an effect, of each compilation (20); 0: verify it as it was recorded
  --two       in two stages at once
  --nan       inputs have NaN and infinities at drawn places
  --all       print every change
)";

struct Arguments {
  SeededOptions options;
  std::vector<std::string> logs;
};

bool read(int argc, char** argv, Arguments& arguments) {
  const auto number = [](std::string_view text, auto& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--two")
      arguments.options.two = true;
    else if (name == "--nan")
      arguments.options.nan = true;
    else if (name == "--all")
      arguments.options.shout = true;
    else if (name == "--seed" && i + 1 < argc && number(argv[i + 1], arguments.options.seed))
      ++i;
    else if (name == "--count" && i + 1 < argc && number(argv[i + 1], arguments.options.count))
      ++i;
    else if (name.starts_with("--"))
      return false;
    else
      arguments.logs.emplace_back(name);
  }
  return !arguments.logs.empty();
}

int run(const Arguments& arguments) {
  bool good = true;
  SeededReport all;
  for (const std::string& log : arguments.logs) {
    const auto report = runSeededChanges(log, arguments.options);
    if (!report) {
      std::fprintf(stderr, "%s: %s\n", log.c_str(), report.error().text().c_str());
      return 2;
    }
    for (const std::string& missed : report->missed) std::printf("%s\n", missed.c_str());
    std::printf("%s: %d tried, %d with effect: %d seen, %d with all stages named, %d with all nodes named\n",
                log.c_str(), report->tried, report->effects, report->seen, report->stagesNamed, report->nodesNamed);
    good = good && report->seen == report->effects && (arguments.options.count > 0 || report->missed.empty());
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace kerf::seededchanges

int main(int argc, char** argv) {
  kerf::seededchanges::Arguments arguments;
  if (!kerf::seededchanges::read(argc, argv, arguments)) {
    std::fputs(kerf::seededchanges::usage, stderr);
    return 2;
  }
  return kerf::seededchanges::run(arguments);
}
