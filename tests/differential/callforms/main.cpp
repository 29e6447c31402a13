// kerf_call_forms: binds forms of calls, and runs them beside PyTorch's answers. Exit code 1 where they differ.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>

#include "engine/capture/common/log_bytes.h"
#include "tests/differential/callforms/form_binding.h"

namespace kerf::callforms {
namespace {

constexpr const char* usage = R"(usage: kerf_call_forms bind FORMS
       kerf_call_forms run FORMS ANSWERS [--compile N]
  bind         a JSON line of each form: how its call is bound (parser_model.py reads them)
  run          each form beside PyTorch's answer
  --compile N  one of N forms is compiled, too (10); 0: none
  FORMS and ANSWERS are JSON lines, packed by gzip or not (make_forms.py, record_forms.py).
)";

struct Forms {
  RecordedTensors tensors;
  std::vector<Json> rows;
};

Result<std::vector<Json>> linesOf(const char* path) {
  KERF_TRY(const auto bytes, openLog(path));
  std::vector<Json> lines;
  for (std::string_view rest = bytes->text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    Json line = Json::parse(rest.substr(0, end), nullptr, false);
    if (!line.is_object()) return fail(ErrorCode::BadInput, "{}: line {} is no JSON", path, lines.size() + 1);
    lines.push_back(std::move(line));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

Result<Forms> formsOf(const char* path) {
  KERF_TRY(std::vector<Json> lines, linesOf(path));
  if (lines.empty() || !lines[0].contains("tensors")) return fail(ErrorCode::BadInput, "{}: has no tensors", path);
  Forms forms{lines[0]["tensors"].get<RecordedTensors>(), {}};
  forms.rows.assign(std::make_move_iterator(lines.begin() + 1), std::make_move_iterator(lines.end()));
  return forms;
}

Result<int> bind(const char* path) {
  KERF_TRY(const Forms forms, formsOf(path));
  for (const Json& row : forms.rows) {
    const auto form = readForm(row, forms.tensors);
    Json line = form ? bindingOf(*form, forms.tensors) : Json{{"unread", form.error().text()}};
    line["n"] = row["n"];
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}

constexpr std::array verdictNames = {"equal", "wrong", "takes", "takes type", "refuses", "not supported"};
constexpr bool isTold[] = {false, true, true, true, true, true};

struct Counts {
  std::array<int, verdictNames.size()> interpreted{}, compiled{};
};

void tell(const char* how, const Json& row, const FormOutcome& outcome) {
  if (!isTold[std::size_t(outcome.verdict)]) return;
  std::printf("%s %s %d: %s\n    %s\n", how, verdictNames[std::size_t(outcome.verdict)], row["n"].get<int>(),
              row["text"].get<std::string>().c_str(), outcome.text.c_str());
  std::fflush(stdout);
}

Result<int> run(const char* path, const char* answers, int compileEvery) {
  KERF_TRY(const Forms forms, formsOf(path));
  KERF_TRY(const std::vector<Json> lines, linesOf(answers));
  std::map<int, Json> byNumber;
  for (const Json& line : lines)
    if (line.contains("n")) byNumber.emplace(line["n"].get<int>(), line);
  Counts counts;
  for (Json row : forms.rows) {
    const auto answer = byNumber.find(row["n"].get<int>());
    if (answer == byNumber.end()) continue;
    row.update(answer->second);
    const auto form = readForm(row, forms.tensors);
    if (!form) {
      tell("unread", row, {FormVerdict::Refuses, form.error().text()});
      ++counts.interpreted[std::size_t(FormVerdict::Refuses)];
      continue;
    }
    const FormOutcome outcome = runForm(*form, forms.tensors, {});
    ++counts.interpreted[std::size_t(outcome.verdict)];
    tell("interpreter", row, outcome);
    if (outcome.verdict != FormVerdict::Equal || compileEvery == 0 || answer->first % compileEvery != 0) continue;
    const FormOutcome compiled = runForm(*form, forms.tensors, {.compiled = true});
    ++counts.compiled[std::size_t(compiled.verdict)];
    tell("compiled", row, compiled);
  }
  for (std::size_t i = 0; i < verdictNames.size(); ++i)
    std::printf("%s: %d interpreted, %d compiled\n", verdictNames[i], counts.interpreted[i], counts.compiled[i]);
  const auto bad = [](const auto& of) { return of[1] + of[3]; };
  return bad(counts.interpreted) + bad(counts.compiled) == 0 ? 0 : 1;
}

Result<int> call(std::span<char*> given) {
  const std::string_view what = given.empty() ? "" : given[0];
  if (what == "bind" && given.size() == 2) return bind(given[1]);
  int every = 10;
  if (given.size() == 5 && std::string_view(given[3]) == "--compile") {
    const std::string_view text = given[4];
    std::from_chars(text.data(), text.data() + text.size(), every);
    given = given.first(3);
  }
  if (what == "run" && given.size() == 3) return run(given[1], given[2], every);
  std::fputs(usage, stderr);
  return 2;
}

}  // namespace
}  // namespace kerf::callforms

int main(int argc, char** argv) {
  const auto code = kerf::callforms::call(std::span(argv, std::size_t(argc)).subspan(1));
  if (!code) std::fprintf(stderr, "%s\n", code.error().text().c_str());
  return code ? *code : 2;
}
