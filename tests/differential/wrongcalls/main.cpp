// kerf_wrong_calls: makes wrong calls of every overload and reports where backends disagree. Exit code 1 where they do.
#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>

#include "tests/differential/wrongcalls/attack.h"

namespace kerf::wrongcalls {
namespace {

constexpr const char* usage = R"(usage: kerf_wrong_calls [options]
  --seed N       another seed makes other calls (1)
  --calls N      calls of each overload (6)
  --only OP...   only overloads with one of these in their name
  --accepted N   one of N calls that the interpreter takes is compiled and compared (16); 0: none
  --attack CLASS --count N
                 at least N (2000) fresh wrong calls of a class, also at later sizes: views, indices, norms, masks,
                 fractions, pointwise
  --json FILE    write the calls, make none
  --recorded CALLS --answers ANSWERS
                 such a file beside PyTorch's answers: where Kerf decides otherwise
)";

bool readNumber(std::string_view text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

struct Arguments {
  WrongCallOptions options;
  std::string json, recorded, answers, attacked;
  std::int64_t count = 2000;
};

bool read(std::span<char*> given, Arguments& arguments) {
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    const std::string_view name = given[i], value = given[i + 1];
    if (name == "--only") {
      while (i + 1 < given.size() && given[i + 1][0] != '-') arguments.options.only.emplace_back(given[++i]);
      continue;
    }
    bool known = name == "--json" && !(arguments.json = value).empty();
    known = known || (name == "--recorded" && !(arguments.recorded = value).empty());
    known = known || (name == "--answers" && !(arguments.answers = value).empty());
    known = known || (name == "--attack" && !(arguments.attacked = value).empty());
    known = known || (name == "--count" && readNumber(value, arguments.count));
    known = known || (name == "--seed" && readNumber(value, arguments.options.seed));
    known = known || (name == "--calls" && readNumber(value, arguments.options.calls));
    known = known || (name == "--accepted" && readNumber(value, arguments.options.acceptedEvery));
    if (!known) return false;
    ++i;
  }
  return true;
}

int run(const Arguments& arguments) {
  if (!arguments.json.empty()) {
    const auto written = writeWrongCalls(arguments.options, arguments.json);
    if (!written) std::fprintf(stderr, "%s\n", written.error().text().c_str());
    return written ? 0 : 2;
  }
  if (!arguments.recorded.empty()) {
    const auto differences = compareWithRecorded(arguments.recorded, arguments.answers);
    if (!differences) std::fprintf(stderr, "%s\n", differences.error().text().c_str());
    if (!differences) return 2;
    for (const std::string& line : *differences) std::printf("%s\n", line.c_str());
    return differences->empty() ? 0 : 1;
  }
  const auto report = arguments.attacked.empty() ? runWrongCalls(arguments.options)
                                                 : attack(arguments.attacked, arguments.options.seed, arguments.count);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 2;
  }
  for (const std::string& problem : report->problems) std::printf("%s\n", problem.c_str());
  for (const std::string& name : report->withoutValidCall) std::printf("no valid call: %s\n", name.c_str());
  std::printf("%lld calls, %lld refused, %lld compiled; %zu problems\n", static_cast<long long>(report->calls),
              static_cast<long long>(report->refused), static_cast<long long>(report->compiled),
              report->problems.size());
  return report->problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kerf::wrongcalls

int main(int argc, char** argv) {
  kerf::wrongcalls::Arguments arguments;
  if (!kerf::wrongcalls::read(std::span(argv, std::size_t(argc)).subspan(1), arguments)) {
    std::fputs(kerf::wrongcalls::usage, stderr);
    return 2;
  }
  return kerf::wrongcalls::run(arguments);
}
