// kerf_specials: NaN and infinities at drawn places, judged in every way. Exit code 1 where a verdict is not true.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "tests/differential/specials/judges.h"

namespace {

constexpr const char* usage = R"(usage: kerf_specials [options]
  --seed N      another seed makes other cases (1)
  --count N     cases (100)
  --bisect N    one of N cases is bisected (8); 0: none
  --backend B   llvm or interp (llvm)
)";

bool number(std::string_view text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  kerf::specials::SpecialsOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i], value = argv[i + 1];
    bool known = name == "--backend" && !(options.backend = value).empty();
    known = known || (name == "--seed" && number(value, options.seed));
    known = known || (name == "--count" && number(value, options.count));
    known = known || (name == "--bisect" && number(value, options.bisectEvery));
    if (known) continue;
    std::fputs(usage, stderr);
    return 2;
  }
  const auto report = kerf::specials::runSpecials(options);
  for (const std::string& text : report.wrong) std::printf("WRONG %s\n", text.c_str());
  for (const std::string& text : report.refused) std::printf("refused %s\n", text.c_str());
  std::printf("%d cases (%d different, %d same, %d between), %d verdicts; %zu wrong, %zu refused\n", report.cases,
              report.different, report.same, report.between, report.verdicts, report.wrong.size(),
              report.refused.size());
  return report.wrong.empty() && report.refused.empty() ? 0 : 1;
}
