#include "engine/compilation/compile_facts.h"

#include <algorithm>
#include <cctype>

#include "engine/capture/common/wrapper_code.h"
#include "engine/compilation/compile_stages.h"
#include "engine/support/hash.h"

namespace kerf::inline compilation {

namespace {

constexpr std::int64_t recordLimit = 64LL << 20;  ///< bytes
constexpr std::size_t addressDigits = 6;          ///< numbers that are longer, or hexadecimal, are addresses

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with "…" for what is another number in every process.
std::string withoutAddresses(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts = isDigit(text[at]) && (at == 0 || !isWord(text[at - 1]));
    const bool hex = starts && text.substr(at, 2) == "0x";
    std::size_t end = at + (hex ? 2 : 0);
    while (starts && end < text.size() && (hex ? isHex(text[end]) : isDigit(text[end]))) ++end;
    if (!starts) {
      result += text[at++];
    } else {
      result += hex || end - at > addressDigits ? std::string("…") : std::string(text.substr(at, end - at));
      at = end;
    }
  }
  return result;
}

template <class Take>
void forEachLine(std::string_view text, const Take& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

/// "triton_poi_fused_add" of "triton_poi_fused_add_3".
std::string_view withoutNumber(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && isDigit(name[end - 1])) --end;
  return end > 1 && end < name.size() && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

/// Lines of a definition up to the quotes that end it, its own name left out.
std::string bodyOf(const std::vector<std::string_view>& lines, const WrapperKernel& kernel) {
  std::string body;
  int quotes = 0;
  for (std::size_t at = std::size_t(std::max(1, kernel.line)) - 1; at < lines.size() && quotes < 2; ++at) {
    const std::string_view line = lines[at];
    for (std::size_t found = line.find("'''"); found != std::string_view::npos; found = line.find("'''", found + 3))
      ++quotes;
    body += line;
    body += '\n';
    if (quotes == 0 && at + 1 >= std::size_t(kernel.line) + 3) break;  // no quoted source at all
  }
  for (std::size_t at = body.find(kernel.name); at != std::string::npos; at = body.find(kernel.name, at))
    body.erase(at, kernel.name.size());
  return body;
}

}  // namespace

TextCounts guardLeaves(std::string_view tree) {
  TextCounts counts;
  forEachLine(tree, [&](std::string_view line) {
    const std::size_t mark = line.find("+- ");
    if (mark == std::string_view::npos) return;
    std::string_view guard = line.substr(mark + 3);
    if (guard.starts_with("GuardManager") || guard.starts_with("RootGuardManager") || guard.find(": ") == guard.npos)
      return;
    guard = guard.substr(0, guard.find("  #"));
    guard = guard.substr(0, guard.find_last_not_of(" \t\r") + 1);
    ++counts[withoutAddresses(guard)];
  });
  return counts;
}

TextCounts guardsOf(const Capture& capture, const CompileEntry& compile) {
  TextCounts counts;
  for (const std::size_t index : compile.records) {
    const CaptureRecord& record = capture.details->records[index];
    if (record.kind != "dynamo_cpp_guards_str") continue;
    const auto text = record.text(recordLimit);
    if (!text) continue;
    for (const auto& [guard, count] : guardLeaves(*text)) counts[guard] += count;
  }
  for (const TracedGuard& guard : compile.guards)
    if (guard.kind.starts_with("guard_added") || guard.kind == "symbolic_shape_specialization")
      counts["SYMBOLS: " + guard.expression] = 1;
  return counts;
}

void addKernels(KernelFacts& facts, std::string_view program, const std::string& part) {
  const WrapperCode code = readWrapperCode(program);
  std::vector<std::string_view> lines;
  forEachLine(program, [&](std::string_view line) { lines.push_back(line); });
  const std::string& known = part.empty() ? code.part : part;
  const std::string prefix = known.empty() || known == "inference" ? "" : known + ": ";
  for (const WrapperKernel& kernel : code.kernels)
    ++facts[prefix + std::string(withoutNumber(kernel.name))].bodies[hashText(bodyOf(lines, kernel)).hex()];
  for (const WrapperCall& call : code.calls) {
    const bool generated = isGeneratedKernel(call.callee);
    ++facts[prefix + std::string(generated ? withoutNumber(call.callee) : std::string_view(call.callee))].calls;
  }
}

KernelFacts kernelsOf(const Capture& capture, const std::vector<CompiledPart>& parts, const GraphOrigin& compilation) {
  KernelFacts facts;
  for (const CompiledPart& part : parts) {
    const CaptureRecord& record = capture.details->records[part.code];
    if (!sameCompilation(capture, record.origin, compilation)) continue;
    if (const auto text = record.text(recordLimit)) addKernels(facts, *text, part.part);
  }
  return facts;
}

}  // namespace kerf::inline compilation
