// Faults inside of kernels: indices, masks, stores, accumulators, atomics.
#include <algorithm>
#include <array>
#include <set>

#include "tests/support/code_mutants/mutant_tools.h"

namespace kerf::testing {

std::optional<CodeMutant> offByOne(const CodeLines& lines, std::mt19937& random) {
  const auto at = chooseLine(lines, random, [&](std::size_t i) {
    const bool isTriton = isTritonAccess(lines[i]) && lines[i].find(" + (") != std::string::npos;
    const bool isCpp = lines[i].find("_ptr") != std::string::npos &&
                       lines[i].find("static_cast<int64_t>(x") != std::string::npos &&
                       (lines[i].find("loadu(") != std::string::npos || lines[i].find(".store(") != std::string::npos);
    return isTriton || isCpp;
  });
  if (!at) return std::nullopt;
  CodeLines changed = lines;
  std::string& line = changed[*at];
  if (isTritonAccess(line))
    line.insert(line.find(" + (") + 4, "1 + ");
  else
    line.insert(line.find("static_cast<int64_t>(x") + 21, "1L + ");
  return mutantOf(changed, *at, "index off by one");
}

std::optional<CodeMutant> noMask(const CodeLines& lines, std::mt19937& random) {
  std::set<std::string> constant;  // masks that are always true, of the kernel above
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmedLine(lines[i]);
    if (text.starts_with("def triton_")) constant.clear();
    if (text.find("mask = tl.full(") != std::string_view::npos)
      constant.insert(std::string(text.substr(0, text.find(' '))));
    const bool hasMask = text.find(", xmask") != std::string_view::npos ||
                         text.find(", r0_mask") != std::string_view::npos ||
                         text.find(", ymask") != std::string_view::npos;
    if (isTritonAccess(lines[i]) && hasMask) places.push_back(i);
    if (text.starts_with("if(C10_UNLIKELY(x")) places.push_back(i);
  }
  if (places.empty()) return std::nullopt;
  const std::size_t at = places[random() % places.size()];
  CodeLines changed = lines;
  std::string& line = changed[at];
  if (isTritonAccess(line)) {
    for (const char* const mask :
         {", r0_mask & xmask & ymask", ", r0_mask & xmask", ", xmask & ymask", ", xmask", ", r0_mask", ", ymask"})
      if (const std::size_t place = line.find(mask); place != std::string::npos) {
        line.replace(place, std::string_view(mask).size(), ", None");
        break;
      }
    return mutantOf(changed, at, "no mask");
  }
  // The vector body runs over the tail too: `x0 < 32` becomes `x0 < 36` in the likely branch, and there is no other.
  const std::size_t bound = line.rfind("< static_cast<int64_t>(");
  std::size_t likely = at;
  while (likely > 0 && lines[likely].find("C10_LIKELY(") == std::string::npos) --likely;
  if (bound == std::string::npos || likely + 40 < at) return std::nullopt;
  const std::size_t place = changed[likely].rfind("< static_cast<int64_t>(");
  if (place == std::string::npos) return std::nullopt;
  changed[likely] = changed[likely].substr(0, place) + line.substr(bound);
  if (changed[likely] == lines[likely] || likely == at) return std::nullopt;
  return mutantOf(changed, likely, "no tail");
}

std::optional<CodeMutant> missingStore(const CodeLines& lines, std::mt19937& random) {
  const auto at = chooseLine(lines, random, [&](std::size_t i) {
    const std::string_view text = trimmedLine(lines[i]);
    return text.starts_with("tl.store(") ||
           (text.find(".store(") != std::string_view::npos && text.find("_ptr") != std::string_view::npos) ||
           (text.starts_with("out_ptr") && text.find("] = ") != std::string_view::npos);
  });
  if (!at) return std::nullopt;
  CodeLines changed = lines;
  changed[*at] =
      std::string(lines[*at].find_first_not_of(' '), ' ') + (trimmedLine(lines[*at]).starts_with("tl.") ? "pass" : ";");
  if (changed[*at].ends_with("pass")) changed[*at] = "";
  return mutantOf(changed, *at, "no store");
}

std::optional<CodeMutant> accumulatorType(const CodeLines& lines, std::mt19937& random) {
  struct Change {
    std::string_view mark, from, to;
  };
  static constexpr std::array<Change, 5> changes = {
      {{" = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)", "tl.float32", "tl.float16"},
       {"tl.sum(", "tl.float32", "tl.bfloat16"},
       {" = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)", "tl.float32", "tl.float16"},
       {"float tmp_acc", "float", "int"},
       {"Vectorized<float> tmp_acc", "<float>", "<at::Half>"}}};
  const auto changeOf = [&](std::size_t i) -> const Change* {
    for (const Change& change : changes)
      if (lines[i].find(change.mark) != std::string::npos && lines[i].find(change.from) != std::string::npos &&
          lines[i].find("_arr") == std::string::npos)
        return &change;
    return nullptr;
  };
  const auto at = chooseLine(lines, random, [&](std::size_t i) { return changeOf(i) != nullptr; });
  if (!at) return std::nullopt;
  const Change& change = *changeOf(*at);
  CodeLines changed = lines;
  changed[*at].replace(changed[*at].find(change.from), change.from.size(), change.to);
  return mutantOf(changed, *at, "accumulator of another type");
}

std::optional<CodeMutant> missingAtomic(const CodeLines& lines, std::mt19937& random) {
  const auto at =
      chooseLine(lines, random, [&](std::size_t i) { return lines[i].find("tl.atomic_add(") != std::string::npos; });
  if (!at) return std::nullopt;
  CodeLines changed = lines;
  std::string& line = changed[*at];
  line.replace(line.find("tl.atomic_add("), 14, "tl.store(");
  if (const std::size_t order = line.find(", sem='relaxed'"); order != std::string::npos) line.erase(order, 15);
  return mutantOf(changed, *at, "no atomic");
}

}  // namespace kerf::testing
