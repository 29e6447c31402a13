#include "tests/support/code_mutants.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace kerf::testing {
namespace {

using Lines = std::vector<std::string>;

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where `word` stands alone in `text`, from `at` on.
std::size_t findWord(const std::string& text, const std::string& word, std::size_t at = 0) {
  for (at = text.find(word, at); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !isWord(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !isWord(text[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string::npos;
}
bool hasWord(const std::string& text, const std::string& word) { return findWord(text, word) != std::string::npos; }

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

CodeMutant mutant(const Lines& lines, std::size_t line, std::string change, std::vector<std::string> names = {}) {
  return {join(lines), int(line) + 1, std::move(change), std::move(names)};
}

template <class Test>
std::optional<std::size_t> choose(const Lines& lines, std::mt19937& random, const Test& test) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (test(i)) places.push_back(i);
  if (places.empty()) return std::nullopt;
  return places[random() % places.size()];
}

std::string_view trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string_view() : std::string_view(line).substr(first);
}

/// Names between the parentheses of a call, where each argument is one: {"buf0", "arg0_1", …}; others are empty.
std::vector<std::string> arguments(const std::string& line) {
  std::vector<std::string> names;
  const std::size_t open = line.find('(');
  if (open == std::string::npos) return names;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = open; at < line.size(); ++at) {
    if (line[at] == '(' || line[at] == '[') ++depth;
    if (line[at] == ')' || line[at] == ']') --depth;
    if ((line[at] == ',' && depth == 1) || depth == 0) {
      std::string piece = line.substr(begin, at - begin);
      while (!piece.empty() && piece.front() == ' ') piece.erase(0, 1);
      const bool isName = !piece.empty() && std::ranges::all_of(piece, isWord) &&
                          std::isdigit(static_cast<unsigned char>(piece[0])) == 0;
      names.push_back(isName ? piece : std::string());
      begin = at + 1;
      if (depth == 0) break;
    }
  }
  return names;
}

bool isKernelCall(const std::string& line) {
  const std::string_view text = trimmed(line);
  return (text.starts_with("triton_") && text.find(".run(") != std::string_view::npos) ||
         (text.starts_with("cpp_fused") && text.find("async_compile") == std::string_view::npos &&
          text.find('(') != std::string_view::npos);
}
bool isExternCall(const std::string& line) { return trimmed(line).starts_with("extern_kernels."); }

/// Sizes, strides and element type with which a buffer was made or asserted: two of one text may stand for each other.
std::string layoutOf(const Lines& lines, const std::string& name) {
  for (const std::string& line : lines) {
    const std::string_view text = trimmed(line);
    if (text.starts_with(name + " = empty_strided")) return std::string(text.substr(text.find('(')));
    if (text.starts_with("assert_size_stride(" + name + ", ")) return std::string(text.substr(text.find(", ") + 2));
    if (text.starts_with(name + " = rand_strided")) return std::string(text.substr(text.find('(')));
  }
  return {};
}

std::optional<CodeMutant> reuseTooEarly(const Lines& lines, std::mt19937& random) {
  const auto isReuse = [&](std::size_t i) { return lines[i].find("# reuse") != std::string::npos; };
  const auto at = choose(lines, random, isReuse);
  if (!at) return std::nullopt;
  const std::string& line = lines[*at];
  const std::size_t del = line.find("; del ");
  std::string name;
  for (std::size_t i = del + 6; del != std::string::npos && i < line.size() && isWord(line[i]); ++i) name += line[i];
  std::size_t use = *at;
  while (use > 0 &&
         (!hasWord(lines[use - 1], name) || !(isKernelCall(lines[use - 1]) || isExternCall(lines[use - 1])))) {
    --use;
    if (lines[use].find("def call(") != std::string::npos) return std::nullopt;
  }
  if (use == 0) return std::nullopt;
  Lines changed = lines;
  changed.erase(changed.begin() + std::ptrdiff_t(*at));
  changed.insert(changed.begin() + std::ptrdiff_t(use - 1), line);
  return mutant(changed, use - 1, "reuses " + name + " before its last use", {name});
}

std::optional<CodeMutant> wrongBuffer(const Lines& lines, std::mt19937& random) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto at =
        choose(lines, random, [&](std::size_t i) { return isKernelCall(lines[i]) || isExternCall(lines[i]); });
    if (!at) return std::nullopt;
    std::vector<std::string> names = arguments(lines[*at]);
    std::erase_if(names, [](const std::string& name) { return name.empty(); });
    if (names.empty()) continue;
    const std::string old = names[random() % names.size()];
    // Another buffer that is alive there.
    std::set<std::string> alive;
    std::size_t begin = *at;
    while (begin > 0 && lines[begin].find("def call(") == std::string::npos) --begin;
    for (std::size_t i = begin; i < *at; ++i) {
      const std::string_view text = trimmed(lines[i]);
      if (text.starts_with("assert_size_stride(")) alive.insert(arguments(lines[i])[0]);
      if (text.starts_with("buf") && text.find(" = empty_strided") != std::string_view::npos)
        alive.insert(std::string(text.substr(0, text.find(' '))));
      if (const std::size_t del = lines[i].find("del "); del != std::string::npos) {
        std::string gone;
        for (std::size_t k = del + 4; k < lines[i].size() && isWord(lines[i][k]); ++k) gone += lines[i][k];
        alive.erase(gone);
      }
    }
    alive.erase(old);
    for (const std::string& name : names) alive.erase(name);
    if (alive.empty()) continue;
    auto other = alive.begin();
    std::advance(other, std::ptrdiff_t(random() % alive.size()));
    Lines changed = lines;
    changed[*at].replace(findWord(changed[*at], old), old.size(), *other);
    return mutant(changed, *at, "takes " + *other + " for " + old, {old, *other});
  }
  return std::nullopt;
}

/// Statements of kernels that touch memory: `tl.load(in_ptr0 + (x0), …`, `….store(out_ptr0 + static_cast<int64_t>(x0)`.
bool isTritonAccess(const std::string& line) {
  return line.find("tl.load(") != std::string::npos || line.find("tl.store(") != std::string::npos;
}

std::optional<CodeMutant> offByOne(const Lines& lines, std::mt19937& random) {
  const auto at = choose(lines, random, [&](std::size_t i) {
    const bool isTriton = isTritonAccess(lines[i]) && lines[i].find(" + (") != std::string::npos;
    const bool isCpp = lines[i].find("_ptr") != std::string::npos &&
                       lines[i].find("static_cast<int64_t>(x") != std::string::npos &&
                       (lines[i].find("loadu(") != std::string::npos || lines[i].find(".store(") != std::string::npos);
    return isTriton || isCpp;
  });
  if (!at) return std::nullopt;
  Lines changed = lines;
  std::string& line = changed[*at];
  if (isTritonAccess(line))
    line.insert(line.find(" + (") + 4, "1 + ");
  else
    line.insert(line.find("static_cast<int64_t>(x") + 21, "1L + ");
  return mutant(changed, *at, "index off by one");
}

std::optional<CodeMutant> noMask(const Lines& lines, std::mt19937& random) {
  std::set<std::string> constant;  // masks that are always true, of the kernel above
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
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
  Lines changed = lines;
  std::string& line = changed[at];
  if (isTritonAccess(line)) {
    for (const char* const mask :
         {", r0_mask & xmask & ymask", ", r0_mask & xmask", ", xmask & ymask", ", xmask", ", r0_mask", ", ymask"})
      if (const std::size_t place = line.find(mask); place != std::string::npos) {
        line.replace(place, std::string_view(mask).size(), ", None");
        break;
      }
    return mutant(changed, at, "no mask");
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
  return mutant(changed, likely, "no tail");
}

std::optional<CodeMutant> missingStore(const Lines& lines, std::mt19937& random) {
  const auto at = choose(lines, random, [&](std::size_t i) {
    const std::string_view text = trimmed(lines[i]);
    return text.starts_with("tl.store(") ||
           (text.find(".store(") != std::string_view::npos && text.find("_ptr") != std::string_view::npos) ||
           (text.starts_with("out_ptr") && text.find("] = ") != std::string_view::npos);
  });
  if (!at) return std::nullopt;
  Lines changed = lines;
  changed[*at] =
      std::string(lines[*at].find_first_not_of(' '), ' ') + (trimmed(lines[*at]).starts_with("tl.") ? "pass" : ";");
  if (changed[*at].ends_with("pass")) changed[*at] = "";
  return mutant(changed, *at, "no store");
}

/// The variable that kernel `kernel` loads parameter `index` into, and from where; empty where that is not one load.
std::pair<std::string, std::string> loadOf(const Lines& lines, const std::string& kernel, std::size_t index) {
  std::size_t at = 0;
  while (at < lines.size() && !lines[at].starts_with("def " + kernel + "(")) ++at;
  if (at == lines.size()) return {};
  const std::vector<std::string> parameters = arguments(lines[at]);
  std::pair<std::string, std::string> found;
  for (; index < parameters.size() && at < lines.size() && !lines[at].starts_with("'''"); ++at) {
    const std::size_t load = lines[at].find(" = tl.load(" + parameters[index] + " + ");
    if (load == std::string::npos) continue;
    if (!found.first.empty()) return {};
    found = {std::string(trimmed(lines[at].substr(0, load))), lines[at].substr(load + 11 + parameters[index].size())};
  }
  return found;
}

/// Whether all that the kernel does with two of its arguments is to add or multiply them: exchanged, they are the same.
bool isSum(const Lines& lines, const std::string& call, const std::string& a, const std::string& b) {
  const std::string_view text = trimmed(call);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  const std::vector<std::string> given = arguments(call);
  const auto placeOf = [&](const std::string& name) {
    return std::size_t(std::ranges::find(given, name) - given.begin());
  };
  const auto first = loadOf(lines, kernel, placeOf(a)), second = loadOf(lines, kernel, placeOf(b));
  if (first.first.empty() || second.first.empty() || first.second != second.second) return false;
  std::size_t at = 0;
  while (at < lines.size() && !lines[at].starts_with("def " + kernel + "(")) ++at;
  int uses = 0, sums = 0;
  for (; at < lines.size() && !lines[at].starts_with("'''"); ++at) {
    const std::size_t equals = lines[at].find(" = ");
    const std::string right = equals == std::string::npos ? lines[at] : lines[at].substr(equals + 3);
    uses += hasWord(right, first.first) || hasWord(right, second.first) ? 1 : 0;
    for (const char* const sign : {" + ", " * "})
      sums += right == first.first + sign + second.first || right == second.first + sign + first.first ? 1 : 0;
  }
  return uses == 1 && sums == 1;
}

std::optional<CodeMutant> swapped(const Lines& lines, std::mt19937& random, bool isAlike) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto at =
        choose(lines, random, [&](std::size_t i) { return isKernelCall(lines[i]) || isExternCall(lines[i]); });
    if (!at) return std::nullopt;
    std::vector<std::string> names = arguments(lines[*at]);
    std::erase_if(names, [](const std::string& name) { return name.empty(); });
    if (names.size() < 2) continue;
    const std::string a = names[random() % names.size()], b = names[random() % names.size()];
    if (a == b) continue;
    const bool isSame = layoutOf(lines, a) == layoutOf(lines, b);
    if (isSame != isAlike) continue;
    if (isAlike && isSum(lines, lines[*at], a, b)) continue;
    Lines changed = lines;
    std::string& line = changed[*at];
    line.replace(findWord(line, a), a.size(), "SWAPPED");
    line.replace(findWord(line, b), b.size(), a);
    line.replace(findWord(line, "SWAPPED"), 7, b);
    return mutant(changed, *at, "swaps " + a + " and " + b, {a, b});
  }
  return std::nullopt;
}
std::optional<CodeMutant> swappedArguments(const Lines& lines, std::mt19937& random) {
  return swapped(lines, random, false);
}
std::optional<CodeMutant> swappedTwins(const Lines& lines, std::mt19937& random) {
  return swapped(lines, random, true);
}

/// "cpp_fused_add_copy__relu_0", not "triton_poi_fused__to_copy__unsafe_index_0".
bool copiesByName(std::string_view name) {
  for (std::size_t at = name.find("copy__"); at != std::string_view::npos; at = name.find("copy__", at + 1))
    if (at < 4 || name.substr(at - 4, 4) != "_to_") return true;
  return false;
}

bool isInputName(std::string_view name) { return name.starts_with("arg") || name.starts_with("primals_"); }

/// What a call of a kernel gives for the parameters that it writes, where that is an input: parameter and input.
std::vector<std::pair<std::string, std::string>> writtenInputs(const Lines& lines, std::size_t call) {
  const std::string_view text = trimmed(lines[call]);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  const std::vector<std::string> given = arguments(lines[call]);
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t at = 0;
  while (at < lines.size() && lines[at].find(kernel + " = async_compile.") == std::string::npos) ++at;
  std::size_t parameter = 0;
  bool isHeader = false;
  for (; at < lines.size() && parameter < given.size(); ++at) {
    isHeader =
        isHeader || lines[at].find("void  kernel(") != std::string::npos || lines[at].starts_with("def " + kernel);
    if (!isHeader) continue;
    for (std::size_t place = lines[at].find("_ptr"); place != std::string::npos && parameter < given.size();
         place = lines[at].find("_ptr", place + 1)) {
      std::size_t begin = place, end = place + 4;
      while (begin > 0 && isWord(lines[at][begin - 1])) --begin;
      while (end < lines[at].size() && isWord(lines[at][end])) ++end;
      const std::string name = lines[at].substr(begin, end - begin);
      if (name.starts_with("out_ptr") && isInputName(given[parameter])) found.emplace_back(name, given[parameter]);
      ++parameter;
    }
    if (lines[at].find(')') != std::string::npos) break;
  }
  return found;
}

/// A statement that copies into an input, or a kernel that does nothing else; of a kernel that does more, the store.
std::optional<CodeMutant> droppedCopy(const Lines& lines, std::mt19937& random) {
  const auto at = choose(lines, random, [&](std::size_t i) {
    if (lines[i].find(".copy_(") != std::string::npos) return true;
    return isKernelCall(lines[i]) && copiesByName(trimmed(lines[i])) && !writtenInputs(lines, i).empty();
  });
  if (!at) return std::nullopt;
  Lines changed = lines;
  if (!isKernelCall(lines[*at])) {
    std::vector<std::string> names;
    const std::string_view text = trimmed(lines[*at]);
    std::string name(text.substr(0, text.find(".copy_(")));
    if (const std::size_t open = name.find('('); open != std::string::npos) name = arguments(name + ')')[0];
    changed[*at].clear();
    return mutant(changed, *at, "no copy_ into " + name, {name});
  }
  const auto written = writtenInputs(lines, *at);
  const std::vector<std::string> given = arguments(lines[*at]);
  const auto inputs = std::ranges::count_if(given, [](const std::string& each) { return each.starts_with("buf"); });
  const auto& [parameter, input] = written[random() % written.size()];
  const std::string_view text = trimmed(lines[*at]);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  if (inputs == 0) {
    changed[*at].clear();
    return mutant(changed, *at, "no copy_ into " + input, {input});
  }
  std::size_t line = 0;
  while (line < lines.size() && lines[line].find(kernel + " = async_compile.") == std::string::npos) ++line;
  std::size_t first = 0;
  for (; line < lines.size() && !lines[line].starts_with("'''") && line < *at; ++line) {
    const bool isStore = hasWord(lines[line], parameter) && (lines[line].find("tl.store(") != std::string::npos ||
                                                             lines[line].find(".store(") != std::string::npos ||
                                                             lines[line].find("] = ") != std::string::npos);
    if (!isStore) continue;
    changed[line].clear();
    first = first == 0 ? line : first;
  }
  if (first == 0) return std::nullopt;
  return mutant(changed, first, "no copy_ into " + input, {input});
}

/// `(a, b, …), (s, t, …)`: two strides exchanged, of sizes that differ and are not 1.
std::optional<CodeMutant> exchangedStride(const Lines& lines, std::mt19937& random) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto at = choose(lines, random, [&](std::size_t i) {
      const std::string_view text = trimmed(lines[i]);
      return text.starts_with("assert_size_stride(") || text.find(" = empty_strided_") != std::string_view::npos;
    });
    if (!at) return std::nullopt;
    const std::string& line = lines[*at];
    const std::size_t sizesAt = line.find('(', line.find('(') + 1);
    const std::size_t stridesAt = sizesAt == std::string::npos ? sizesAt : line.find('(', sizesAt + 1);
    if (stridesAt == std::string::npos) continue;
    const auto numbers = [&](std::size_t open) {
      std::vector<std::string> items;
      std::string item;
      for (std::size_t i = open + 1; i < line.size(); ++i) {
        if (line[i] == ',' || line[i] == ')') {
          if (!item.empty()) items.push_back(item);
          item.clear();
          if (line[i] == ')') break;
        } else if (line[i] != ' ') {
          item += line[i];
        }
      }
      return items;
    };
    const auto sizes = numbers(sizesAt);
    auto strides = numbers(stridesAt);
    if (sizes.size() < 2 || sizes.size() != strides.size()) continue;
    const std::size_t i = random() % sizes.size(), j = random() % sizes.size();
    if (i == j || sizes[i] == sizes[j] || sizes[i] == "1" || sizes[j] == "1" || strides[i] == strides[j]) continue;
    std::swap(strides[i], strides[j]);
    std::string text = "(";
    for (const std::string& each : strides) text += (text.size() > 1 ? ", " : "") + each;
    Lines changed = lines;
    changed[*at].replace(stridesAt, line.find(')', stridesAt) - stridesAt, text);
    const std::string_view statement = trimmed(line);
    const std::string name = statement.starts_with("assert_size_stride(")
                                 ? arguments(line)[0]
                                 : std::string(statement.substr(0, statement.find(' ')));
    return mutant(changed, *at, "strides exchanged", {name});
  }
  return std::nullopt;
}

std::optional<CodeMutant> accumulatorType(const Lines& lines, std::mt19937& random) {
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
  const auto at = choose(lines, random, [&](std::size_t i) { return changeOf(i) != nullptr; });
  if (!at) return std::nullopt;
  const Change& change = *changeOf(*at);
  Lines changed = lines;
  changed[*at].replace(changed[*at].find(change.from), change.from.size(), change.to);
  return mutant(changed, *at, "accumulator of another type");
}

std::optional<CodeMutant> missingAtomic(const Lines& lines, std::mt19937& random) {
  const auto at =
      choose(lines, random, [&](std::size_t i) { return lines[i].find("tl.atomic_add(") != std::string::npos; });
  if (!at) return std::nullopt;
  Lines changed = lines;
  std::string& line = changed[*at];
  line.replace(line.find("tl.atomic_add("), 14, "tl.store(");
  if (const std::size_t order = line.find(", sem='relaxed'"); order != std::string::npos) line.erase(order, 15);
  return mutant(changed, *at, "no atomic");
}

}  // namespace

const std::vector<MutantKind>& mutantKinds() {
  static const std::vector<MutantKind> kinds = {
      {"reuse too early", reuseTooEarly},     {"wrong buffer", wrongBuffer},    {"index off by one", offByOne},
      {"tail without mask", noMask},          {"missing store", missingStore},  {"swapped arguments", swappedArguments},
      {"swapped twins", swappedTwins},        {"dropped copy_", droppedCopy},   {"exchanged stride", exchangedStride},
      {"accumulator dtype", accumulatorType}, {"missing atomic", missingAtomic}};
  return kinds;
}

namespace {

/// "triton_poi_fused_0" where line `at` lies in its text; empty for lines of the wrapper.
std::string kernelAround(const Lines& lines, std::size_t at) {
  for (std::size_t i = std::min(at, lines.size() - 1) + 1; i-- > 0;) {
    if (lines[i].starts_with("'''") && i != at) return {};
    const std::size_t define = lines[i].find(" = async_compile.");
    if (define != std::string::npos) return lines[i].substr(0, define);
  }
  return {};
}

}  // namespace

bool namesStatement(const CodeMutant& mutant, const AuditClaim& claim) {
  const Lines lines = codeLines(mutant.text);
  const std::string kernel = kernelAround(lines, std::size_t(mutant.line) - 1);
  const bool isGone = mutant.change.starts_with("no copy_");
  if (isGone &&
      std::ranges::any_of(mutant.names, [&](const std::string& name) { return hasWord(claim.subject, name); }))
    return true;
  for (const int each : {claim.line, claim.otherLine}) {
    if (each < 1 || std::size_t(each) > lines.size()) continue;
    if (each == mutant.line) return true;
    const std::string& text = lines[std::size_t(each) - 1];
    if (!kernel.empty() && (hasWord(text, kernel) || kernelAround(lines, std::size_t(each) - 1) == kernel)) return true;
    if (std::ranges::any_of(mutant.names, [&](const std::string& name) { return hasWord(text, name); })) return true;
  }
  return false;
}

std::vector<std::string> codeLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace kerf::testing
