#include "engine/capture/text/printed_signature.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/capture/common/symbol_range.h"
#include "engine/capture/text/line_content.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view signatureMark = "Graph signature:";
constexpr std::string_view rangesMark = "Range constraints:";

struct KindRow {
  std::string_view printed, kind;
  bool isInput;
};
constexpr auto kinds = std::to_array<KindRow>({{"USER_INPUT", "user_input", true},
                                               {"PARAMETER", "parameter", true},
                                               {"BUFFER", "buffer", true},
                                               {"CONSTANT_TENSOR", "tensor_constant", true},
                                               {"CUSTOM_OBJ", "custom_obj", true},
                                               {"TOKEN", "token", true},
                                               {"USER_OUTPUT", "user_output", false},
                                               {"LOSS_OUTPUT", "loss_output", false},
                                               {"BUFFER_MUTATION", "buffer_mutation", false},
                                               {"PARAMETER_MUTATION", "parameter_mutation", false},
                                               {"GRADIENT_TO_PARAMETER", "gradient_to_parameter", false},
                                               {"GRADIENT_TO_USER_INPUT", "gradient_to_user_input", false},
                                               {"USER_INPUT_MUTATION", "user_input_mutation", false},
                                               {"TOKEN", "token", false}});

const KindRow* kindNamed(std::string_view printed, bool isInput) {
  const auto row = std::ranges::find_if(
      kinds, [&](const KindRow& each) { return each.printed == printed && each.isInput == isInput; });
  return row == kinds.end() ? nullptr : &*row;
}

std::string_view wordAt(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
  return {text.begin(), end};
}

/// What stands in the quotes behind `key`; empty where they are missing.
std::string quotedAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return {};
  return std::string(rest.substr(1, rest.find(rest.front(), 1) - 1));
}

/// The text behind "Graph signature:" and "Range constraints:", one string each.
struct Sections {
  std::string signature, ranges;
};

Sections sectionsOf(const std::vector<TextLine>& lines, std::size_t first) {
  Sections sections;
  std::string* into = nullptr;
  for (std::size_t at = first; at < lines.size(); ++at) {
    const std::string_view line = lines[at].text;
    const auto kind = contentOf(line).kind;
    if (kind == LineContent::Kind::Class || kind == LineContent::Kind::Forward ||
        kind == LineContent::Kind::GraphHeader)
      break;
    if (const std::size_t mark = line.find(signatureMark); mark != line.npos) {
      if (!sections.signature.empty()) break;  // of another program
      into = &sections.signature;
      *into += std::string(line.substr(mark + signatureMark.size())) + "\n";
    } else if (const std::size_t range = line.find(rangesMark); range != line.npos) {
      into = &sections.ranges;
      *into += std::string(line.substr(range + rangesMark.size())) + "\n";
      if (line.find('}', range) != line.npos) break;
    } else if (into != nullptr) {
      *into += std::string(line) + "\n";
    }
  }
  return sections;
}

/// "p_w: PARAMETER target='lin.weight'", "b_m: BUFFER target='m' persistent=True".
void addPrintedLine(std::string_view line, bool isInput, GraphSignature& signature) {
  if (const std::size_t prefix = line.rfind("] "); prefix != line.npos) line.remove_prefix(prefix + 2);
  line = strippedLine(line);
  const std::size_t colon = line.find(": ");
  if (colon == line.npos || colon == 0) return;
  const KindRow* row = kindNamed(wordAt(line.substr(colon + 2)), isInput);
  if (row == nullptr) return;
  GraphSignature::Entry entry{std::string(row->kind), std::string(line.substr(0, colon)), quotedAfter(line, "target="),
                              line.find("persistent=False") == line.npos};
  (isInput ? signature.inputs : signature.outputs).push_back(std::move(entry));
}

/// "InputSpec(kind=<InputKind.PARAMETER: 2>, arg=TensorArgument(name='p_w'), target='lin.weight', persistent=None)".
void addSpecs(std::string_view text, std::string_view mark, bool isInput, std::vector<GraphSignature::Entry>& entries) {
  for (std::size_t at = text.find(mark); at != text.npos;) {
    const std::size_t next = text.find(mark, at + mark.size());
    const std::string_view spec = text.substr(at + mark.size(), next == text.npos ? next : next - at - mark.size());
    at = next;
    const KindRow* row = kindNamed(wordAt(spec), isInput);
    if (row == nullptr) continue;
    entries.push_back({std::string(row->kind), quotedAfter(spec, "name="), quotedAfter(spec, "target="),
                       spec.substr(0, spec.find("OutputSpec")).find("persistent=False") == spec.npos});
  }
}

std::optional<GraphSignature> signatureOf(std::string_view text) {
  GraphSignature signature;
  addSpecs(text, "<InputKind.", true, signature.inputs);
  addSpecs(text, "<OutputKind.", false, signature.outputs);
  const bool hasSpecs = !signature.inputs.empty() || !signature.outputs.empty();
  for (bool isInput = true; !hasSpecs && !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = strippedLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    isInput = isInput && !line.ends_with("# outputs");
    addPrintedLine(line, isInput, signature);
  }
  if (signature.inputs.empty() && signature.outputs.empty()) return std::nullopt;
  return signature;
}

/// "{s9: VR[2, 64]}", "{s0: ValueRanges(lower=2, upper=64, …)}", "{s0: RangeConstraint(min_val=2, max_val=64)}".
std::vector<SymbolRange> rangesOf(std::string_view text) {
  std::vector<SymbolRange> ranges;
  std::size_t at = text.find('{');
  while (at != text.npos && at + 1 < text.size()) {
    const std::string_view rest = strippedLine(text.substr(at + 1));
    const std::string_view name = wordAt(rest);
    const std::size_t open = rest.find_first_of("[(");
    const std::size_t close = open == rest.npos ? open : rest.find_first_of("])", open);
    if (name.empty() || !rest.substr(name.size()).starts_with(':') || close == rest.npos) break;
    std::string ends(rest.substr(open + 1, close - open - 1));
    for (const std::string_view key : {"lower=", "upper=", "min_val=", "max_val="})
      if (const std::size_t found = ends.find(key); found != ends.npos) ends.erase(found, key.size());
    const std::size_t second = ends.find(',');
    const std::size_t third = second == ends.npos ? second : ends.find(',', second + 1);
    ranges.push_back(symbolRange(std::string(name), "[" + ends.substr(0, third) + "]"));
    at = std::size_t(rest.data() - text.data()) + close;
    at = text.find(',', at);
  }
  return ranges;
}

/// The names stand in the order of the graph's inputs and outputs.
bool fits(const GraphSignature& signature, const Graph& graph) {
  const std::vector<NodeId> placeholders = graph.placeholders();
  if (signature.inputs.size() != placeholders.size()) return false;
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (const std::string& name = signature.inputs[i].name;
        !name.empty() && name != graph.node(placeholders[i]).name() && name != graph.node(placeholders[i]).target())
      return false;
  const NodeId output = graph.outputNode();
  if (!output.valid() || graph.node(output).args().empty()) return signature.outputs.empty();
  const ListArgument* list = graph.node(output).args().front().asList();
  return signature.outputs.size() == (list == nullptr ? 1 : list->items.size());
}

}  // namespace

PrintedSignature printedSignature(const std::vector<TextLine>& lines, std::size_t first) {
  const Sections sections = sectionsOf(lines, first);
  return {signatureOf(sections.signature), rangesOf(sections.ranges)};
}

void applyPrintedSignature(PrintedSignature printed, CapturedGraph& graph, std::vector<std::string>* notes) {
  if (!printed.ranges.empty()) graph.module.symbolRanges = std::move(printed.ranges);
  if (!printed.signature) return;
  if (fits(*printed.signature, graph.module.graph))
    graph.signature = std::move(printed.signature);
  else if (notes != nullptr)
    notes->push_back(
        fmt::format("the signature below the graph tells of {} inputs and {} outputs, which are not the "
                    "graph's own: it is left out; print the whole program again to keep it",
                    printed.signature->inputs.size(), printed.signature->outputs.size()));
}

}  // namespace kerf::inline capture
