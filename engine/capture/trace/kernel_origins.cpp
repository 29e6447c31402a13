#include "engine/capture/trace/kernel_origins.h"

#include <algorithm>
#include <unordered_set>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostLines = 100;  ///< source lines of one kernel, and its lines in the code
constexpr std::int64_t longestCode = 16 << 20;
constexpr std::size_t mostPrograms = 64;  ///< of one compilation, in which kernels are looked for

/// The innermost frame of a printed stack with its code: "x.py:3 in f: x = x.relu()".
std::string innermostLine(std::string_view stack) {
  std::string last;
  while (!stack.empty()) {
    const std::string_view line = trimmedText(firstLineOf(stack));
    stack.remove_prefix(std::min(stack.size(), firstLineOf(stack).size() + 1));
    const auto frame = fits("File \"{}\", line {}, in {}", line);
    if (frame.empty()) continue;
    last = fmt::format("{}:{} in {}", frame[0], frame[1], frame[2]);
    const std::string_view code = trimmedText(firstLineOf(stack));
    if (!code.empty() && !code.starts_with("File \"")) last += fmt::format(": {}", code);
  }
  return clippedText(last, longestLine);
}

/// "triton_poi_fused_mul_1" of "triton_poi_fused_mul_1:2": the number tells calls of one kernel apart.
std::string_view plainKernel(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  const bool numbered = colon != std::string_view::npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return numbered ? name.substr(0, colon) : name;
}

bool isName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where a program has names: defined ("name = async_compile…", "def name(") or used otherwise.
class NameLines {
 public:
  NameLines(std::string_view program, const std::unordered_set<std::string_view>& wanted) : m_wanted(wanted) {
    for (int number = 1; !program.empty(); ++number) {
      const std::string_view line = firstLineOf(program);
      program.remove_prefix(std::min(program.size(), line.size() + 1));
      takeLine(line, number);
    }
  }
  struct Lines {
    std::vector<int> defined, called;
  };
  const Lines* of(std::string_view name) const {
    const auto found = m_lines.find(name);
    return found == m_lines.end() ? nullptr : &found->second;
  }

 private:
  void takeLine(std::string_view line, int number) {
    if (trimmedText(line).starts_with('#')) return;
    for (std::size_t at = 0; at < line.size();) {
      if (!isName(line[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < line.size() && isName(line[end])) ++end;
      const std::string_view name = line.substr(at, end - at);
      if (m_wanted.contains(name)) note(name, line.substr(0, at), line.substr(end), number);
      at = end;
    }
  }

  void note(std::string_view name, std::string_view before, std::string_view after, int number) {
    const bool defined = (before.empty() && trimmedText(after).starts_with("= ")) || before.ends_with("def ") ||
                         before.ends_with("void ");
    const bool called = after.starts_with(".run(") || after.starts_with("(") || after.starts_with("[");
    Lines& lines = m_lines[name];
    std::vector<int>& list = defined ? lines.defined : lines.called;
    if ((defined || called) && list.size() < mostLines && (list.empty() || list.back() != number))
      list.push_back(number);
  }

  const std::unordered_set<std::string_view>& m_wanted;
  std::unordered_map<std::string_view, Lines> m_lines;
};

/// Null when there are too many.
KernelOrigin* kernelOf(CompileStory& story, std::unordered_map<std::string, std::size_t>& known,
                       std::string_view kernel, const std::string& direction) {
  const auto [slot, fresh] = known.try_emplace(fmt::format("{} {}", direction, kernel), story.kernels.size());
  if (fresh && story.kernels.size() >= mostItems) return nullptr;
  if (fresh) {
    KernelOrigin& made = story.kernels.emplace_back();
    made.kernel = kernel;
    made.direction = direction;
  }
  return slot->second < story.kernels.size() ? &story.kernels[slot->second] : nullptr;
}

std::vector<std::string> firstOf(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t most = 200;
  return {names.begin(), names.begin() + std::min(most, std::ssize(names))};
}

/// Notes the kernels' lines in one output code.
void placeKernels(CompileStory& story, const LoggedCode& code, const CaptureRecord& record) {
  std::unordered_set<std::string_view> wanted;
  for (const KernelOrigin& kernel : story.kernels)
    if (kernel.direction == code.direction) wanted.insert(plainKernel(kernel.kernel));
  if (wanted.empty()) return;
  const auto text = record.text(longestCode);
  if (!text) return;
  const NameLines lines(*text, wanted);
  for (KernelOrigin& kernel : story.kernels) {
    const auto* found = kernel.direction == code.direction ? lines.of(plainKernel(kernel.kernel)) : nullptr;
    if (found == nullptr || kernel.code >= 0) continue;
    kernel.code = std::int64_t(code.record);
    kernel.definedAt = found->defined;
    kernel.calledAt = found->called;
  }
}

}  // namespace

void takeKernelStacks(const StoryRecord& record) {
  const std::string payload = record.payload();
  JsonWalker kernels(payload);
  while (kernels.nextMember()) {
    KernelOrigin origin;
    origin.kernel = clippedText(jsonString(kernels.key()).value_or(""), 500);
    origin.direction = record.direction;
    std::size_t bytes = origin.kernel.size();
    JsonWalker stacks(kernels.value());
    while (origin.lines.size() < mostLines && stacks.nextElement()) {
      const auto stack = jsonString(stacks.value());
      std::string line = stack ? innermostLine(*stack) : std::string();
      bytes += line.size();
      if (!line.empty() && std::ranges::find(origin.lines, line) == origin.lines.end())
        origin.lines.push_back(std::move(line));
    }
    record.add(record.story.kernels, std::move(origin), bytes);
  }
}

void joinKernels(CompileLog& log, const CaptureDetails& details) {
  std::map<std::pair<int, std::string_view>, std::vector<const RecordedFusionGroup*>> groups;
  for (const RecordedFusionGroup& group : details.fusionGroups)
    if (!group.kernel.empty()) groups[{group.origin.rank, group.origin.compileId}].push_back(&group);
  std::unordered_map<std::string, std::size_t> recordAt;  // by log and line
  for (std::size_t i = 0; i < details.records.size(); ++i)
    if (details.records[i].kind == "artifact" && details.records[i].name.starts_with("inductor_"))
      recordAt[fmt::format("{}:{}", details.records[i].origin.file.string(), details.records[i].origin.line)] = i;
  for (std::size_t i = 0; i < log.compiles.size(); ++i) {
    CompileStory& story = log.compiles[i];
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t k = 0; k < story.kernels.size(); ++k)
      known.try_emplace(fmt::format("{} {}", story.kernels[k].direction, story.kernels[k].kernel), k);
    const std::string& id = details.compiles[i].id;
    const auto found =
        groups.find({details.compiles[i].rank, id == "(unknown)" ? std::string_view() : std::string_view(id)});
    if (found != groups.end())
      for (const RecordedFusionGroup* group : found->second) {
        const auto at = recordAt.find(fmt::format("{}:{}", group->origin.file.string(), group->origin.line));
        const std::string direction = at == recordAt.end() ? std::string() : log.directions[at->second];
        KernelOrigin* kernel = kernelOf(story, known, group->kernel, direction);
        if (kernel == nullptr) continue;
        kernel->postGradNodes = firstOf(group->postGradNodes);
        kernel->preGradNodes = firstOf(group->preGradNodes);
      }
    std::size_t placed = 0;
    for (const LoggedCode& code : story.codes)
      if (code.isOutput && placed++ < mostPrograms) placeKernels(story, code, details.records[code.record]);
  }
}

}  // namespace kerf::inline capture::trace
