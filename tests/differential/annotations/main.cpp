// kerf_annotations: changes annotations of recorded graphs and reports which contradictions nobody speaks of. Exit code
// 1 for those, and for what is said of an unchanged graph.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/differential/annotations/changed_annotations.h"

namespace {

constexpr const char* usage = R"(usage: kerf_annotations [options] FILE...
  --seed N    another seed makes other changes (1)
  --count N   changes in each graph (10)
)";

bool number(std::string_view text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  kerf::annotations::AnnotationOptions options;
  kerf::annotations::AnnotationReport report;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool takesValue = name == "--seed" || name == "--count";
    if (!takesValue && !name.starts_with("--"))
      files.emplace_back(name);
    else if (takesValue && i + 1 < argc &&
             (name == "--seed" ? number(argv[i + 1], options.seed) : number(argv[i + 1], options.count)))
      ++i;
    else
      files.clear(), i = argc;
  }
  if (files.empty()) std::fputs(usage, stderr);
  if (files.empty()) return 2;
  int unread = 0;
  for (const std::string& file : files)
    if (const auto done = kerf::annotations::changeAnnotations(file, options, report); !done) {
      ++unread;
      std::fprintf(stderr, "%s: %s\n", file.c_str(), done.error().text().c_str());
    }
  for (const std::string& text : report.falseAlarms) std::printf("false alarm: %s\n", text.c_str());
  for (const std::string& text : report.unsaid) std::printf("unsaid: %s\n", text.c_str());
  for (const auto& [op, count] : report.unsaidByOp) std::printf("%5d unsaid: %s\n", count, op.c_str());
  std::printf("%d graphs, %zu false alarms; %d changes, %d said; %d files not read\n", report.graphs,
              report.falseAlarms.size(), report.changes, report.said, unread);
  return report.falseAlarms.empty() && report.said == report.changes ? 0 : 1;
}
