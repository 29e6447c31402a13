// torchtitan's numerics log (rank_0_activations.log): a block for each op that was captured, `[module/op_N_name]`, with
// figures of its first result, sums of magnitudes of results and inputs, and which ops gave the inputs.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "engine/align/printed_values.h"
#include "engine/align/read_recording.h"

namespace kerf::inline align {

namespace {

constexpr std::size_t mostDims = 1024;
constexpr std::string_view countMark = "Total captured activations: ";
constexpr std::string_view leftOutMark = "Excluded ops dispatched: ";

std::string_view trimmedLine(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The next line of `text`, which loses it.
std::string_view nextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

struct BlockName {
  std::string_view key, module, op;
};

/// "[layers.0.wq/op_3_mm]": its key, module and op; an empty op for other lines.
BlockName blockName(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (line.size() < 2 || line.front() != '[' || line.back() != ']') return {};
  const std::string_view key = line.substr(1, line.size() - 2);
  const std::size_t mark = key.rfind("/op_");
  if (mark == std::string_view::npos) return {};
  std::string_view op = key.substr(mark + 4);
  const std::size_t digits = std::min(op.find_first_not_of("0123456789"), op.size());
  if (digits == 0 || digits + 1 >= op.size() || op[digits] != '_') return {};
  op.remove_prefix(digits + 1);
  const std::string_view module = key.substr(0, mark);
  return {key, module == "<none>" ? std::string_view() : module, op};
}

/// "layers.0.wq" of "FSDPLlama3Model.layers.0.wq": a class in front, which only some modes write.
std::string_view withoutRootClass(std::string_view module) {
  const auto isUpper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const std::size_t dot = module.find('.');
  if (dot == std::string_view::npos || !isUpper(module.front())) return module;
  const std::string_view root = module.substr(1, dot - 1);
  return std::ranges::any_of(root, isUpper) ? module.substr(dot + 1) : module;
}

/// "aten.mm", "_c10d_functional.all_reduce" of a name without its namespace.
std::string opOf(std::string_view name) {
  constexpr std::string_view collectives[] = {"all_gather", "all_reduce", "reduce_scatter",
                                              "all_to_all", "broadcast_", "wait_tensor"};
  const bool communicates =
      std::ranges::any_of(collectives, [&](std::string_view start) { return name.starts_with(start); });
  return fmt::format("{}.{}", communicates ? "_c10d_functional" : "aten", name);
}

using Parts = std::vector<std::string_view>;

/// Nothing where there are more than `most`.
std::optional<Parts> partsOf(std::string_view text, char separator, std::size_t most) {
  Parts parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    if (parts.size() == most) return std::nullopt;
    parts.push_back(trimmedLine(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> numberOf(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// "torch.Size([2, 16]), Dtype: torch.float32".
void readShape(std::string_view text, StepValue& value) {
  const std::size_t open = text.find('['), close = text.find(']');
  const std::size_t mark = text.find("Dtype: ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  value.shaped = true;
  const std::string_view sizes = trimmedLine(text.substr(open + 1, close - open - 1));
  if (!sizes.empty()) {
    const auto parts = partsOf(sizes, ',', mostDims);
    value.shaped = parts.has_value();
    for (const std::string_view part : parts.value_or(Parts())) {
      std::int64_t size = -1;
      const char* end = part.data() + part.size();
      const auto [stop, problem] = std::from_chars(part.data(), end, size);
      value.shaped &= problem == std::errc() && stop == end && size >= 0;
      value.shape.push_back(size);
    }
  }
  if (mark == std::string_view::npos) return;
  const std::string name(trimmedLine(text.substr(mark + 7)));
  const auto dtype = dtypeFromTorchName(name);
  value.dtype = dtype ? std::string(dtypeInfo(*dtype).shortCode) : name;
}

/// One block, while its lines are read.
struct OpBlock {
  RunStep step;
  std::string_view key;
  std::optional<double> l2, min, max, mean;
  Parts outputHashes, inputHashes, producers;
};

/// Whether the sum of magnitudes may be that of elements with these figures: |mean| · n ≤ L1, L2 ≤ L1 ≤ √n · L2,
/// peak ≤ L1 ≤ n · peak; all within the digits of a 16-bit float.
bool fitsFigures(double l1, const StepValue& figures) {
  constexpr double slack = 1.02;
  const ElementStats& stats = *figures.stats;
  if (!std::isfinite(l1) || !std::isfinite(stats.norm)) return std::isfinite(l1) == std::isfinite(stats.norm);
  const double peak = std::max(std::abs(stats.min), std::abs(stats.max));
  if (stats.norm > l1 * slack || peak > l1 * slack) return false;
  const double count = figures.shaped ? double(figures.elements()) : -1;
  if (count < 0) return true;
  return l1 <= slack * std::sqrt(count) * stats.norm && l1 <= slack * count * peak &&
         std::abs(stats.mean) * count <= slack * l1;
}

/// Ops whose results behind the first are places or counts: they are not rounded.
bool countsInFurtherResults(std::string_view op) {
  constexpr std::string_view names[] = {"max",   "min",    "topk",      "sort",    "kthvalue",
                                        "mode",  "median", "nanmedian", "cummax",  "cummin",
                                        "frexp", "unique", "_unique2",  "argsort", "unique_consecutive"};
  const std::string_view name = shortOpName(op);
  return std::ranges::find(names, name) != std::end(names) || name.ends_with("with_indices") ||
         name.find("max_pool") != std::string_view::npos;
}

/// A step that was given, for those that take its results.
struct GivenStep {
  std::size_t step = 0;
  std::unordered_map<std::uint64_t, std::size_t> bySum;  ///< of several results: which has the sum; `several`
  bool perhapsTaken = false;                             ///< its results are marked so

  static constexpr std::size_t several = SIZE_MAX;
};

/// Equal for equal sums, and for NaN.
std::uint64_t keyOf(double l1) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<std::uint64_t>(std::isnan(l1) ? nan : l1 + 0.0);  // no -0
}

std::unordered_map<std::uint64_t, std::size_t> resultsBySum(const std::vector<StepValue>& results) {
  std::unordered_map<std::uint64_t, std::size_t> bySum;
  for (std::size_t i = 0; i < results.size() && results.size() > 1; ++i)
    if (results[i].l1)
      if (const auto [known, isNew] = bySum.try_emplace(keyOf(*results[i].l1), i); !isNew)
        known->second = GivenStep::several;
  return bySum;
}

class TitanReader {
 public:
  Result<RunRecording> read(std::string_view text) {
    m_recording.kind = "torchtitan log";
    while (!text.empty()) {
      const std::string_view line = nextLine(text);
      if (const BlockName name = blockName(line); !name.op.empty()) {
        flush();
        if (m_recording.steps.size() >= mostSteps)
          return fail(ErrorCode::TooLarge, "the log has more than {} ops", mostSteps);
        begin(name);
      } else if (m_open) {
        field(trimmedLine(line));
        if (m_values > mostSteps)
          return fail(ErrorCode::TooLarge, "the log has more than {} results and inputs", mostSteps);
      } else {
        header(trimmedLine(line));
      }
    }
    flush();
    nameSteps(m_recording);
    if (m_unplaced > 0)
      m_recording.notes.push_back(
          fmt::format("the figures of {} ops fit none of their results and are left out", m_unplaced));
    if (m_said && *m_said != m_recording.steps.size())
      m_recording.notes.push_back(
          fmt::format("the log says that it has {} ops, and has {}", *m_said, m_recording.steps.size()));
    return std::move(m_recording);
  }

 private:
  void header(std::string_view line) {
    if (line.starts_with(countMark)) {
      std::size_t count = 0;
      const std::string_view digits = line.substr(countMark.size());
      if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec == std::errc()) m_said = count;
    } else if (line.starts_with(leftOutMark) && line.substr(leftOutMark.size()) != "(none)") {
      m_recording.notes.push_back(fmt::format("not recorded, but called: {}", line.substr(leftOutMark.size())));
    }
  }

  void begin(const BlockName& name) {
    m_block = {};
    m_block.key = name.key;
    m_block.step.op = opOf(name.op);
    m_block.step.module = withoutRootClass(name.module);
    m_block.step.inPlace = writesInPlace(m_block.step.op);
    m_block.step.outputs.emplace_back();
    m_open = true;
  }

  void field(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view name = line.substr(0, colon), text = trimmedLine(line.substr(colon + 2));
    const std::pair<std::string_view, std::optional<double>*> figures[] = {
        {"L2 norm", &m_block.l2}, {"Min", &m_block.min}, {"Max", &m_block.max}, {"Mean", &m_block.mean}};
    for (const auto& [figure, place] : figures)
      if (name == figure) *place = numberOf(text);
    if (name == "Shape") readShape(text, m_block.step.outputs.front());
    if (name == "L1 norm") m_block.step.outputs.front().l1 = numberOf(text);
    if (name == "Output hash") m_block.outputHashes = hashes(text);
    if (name == "Input hashes") m_block.inputHashes = hashes(text);
    if (name == "Input producers") m_block.producers = partsOf(text, ';', mostSteps).value_or(Parts());
    if (name == "Location") m_block.step.source = text;
    if (name == "Phase") m_block.step.constants = text;
  }

  /// Those that say anything; they count as values of the recording.
  Parts hashes(std::string_view text) {
    auto parts = partsOf(text, ',', mostSteps);
    m_values += parts ? parts->size() : mostSteps + 1;
    if (m_values > mostSteps) return {};
    std::erase_if(*parts, [](std::string_view part) { return part.empty(); });
    return std::move(*parts);
  }

  void flush() {
    if (!std::exchange(m_open, false)) return;
    RunStep& step = m_block.step;
    StepValue& first = step.outputs.front();
    if (m_block.l2 && m_block.min && m_block.max && m_block.mean)
      first.stats = ElementStats{*m_block.min,
                                 *m_block.max,
                                 *m_block.mean,
                                 *m_block.l2,
                                 double(std::isnan(*m_block.l2)),
                                 double(std::isinf(*m_block.l2))};
    const std::string dtype = first.dtype;
    const bool told = first.shaped || first.measured();
    addHashed(step.inputs, m_block.inputHashes);
    for (StepValue& value : step.inputs) value.dtype = dtype.empty() ? "f32" : dtype;
    followProducers(step);
    addOutputs(step, m_block.outputHashes);
    // An op that writes in place and gives nothing has no result to compare.
    if (m_block.outputHashes.empty() && !told) step.outputs.clear();
    giveDtypes(step, dtype);
    for (StepValue& value : step.outputs) value.id = m_nextId++;
    m_given[m_block.key] = {m_recording.steps.size(), resultsBySum(step.outputs)};
    m_recording.steps.push_back(std::move(step));
  }

  /// As many values as there are hashes, each with its own.
  static void addHashed(std::vector<StepValue>& values, const Parts& hashes) {
    values.resize(std::max(values.size(), hashes.size()));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      std::vector<StepValue> one{std::move(values[i])};
      giveHashes(one, {std::string(hashes[i])});
      values[i] = std::move(one.front());
    }
  }

  /// Shape and figures are those of the first floating result of at least 1,000 elements, which need not be the first.
  void addOutputs(RunStep& step, const Parts& hashes) {
    if (hashes.empty()) return;
    StepValue figures = std::exchange(step.outputs.front(), StepValue());
    addHashed(step.outputs, hashes);
    auto place = step.outputs.begin();
    if (figures.stats && step.outputs.size() > 1)
      place = std::ranges::find_if(step.outputs,
                                   [&](const StepValue& value) { return value.l1 && fitsFigures(*value.l1, figures); });
    if (place == step.outputs.end()) {
      ++m_unplaced;
      return;
    }
    const std::optional<double> l1 = place->l1;
    std::string hash = std::move(place->hash);
    *place = std::move(figures);
    if (l1) place->l1 = l1;
    place->hash = std::move(hash);
  }

  /// Of results whose dtype is not told: that of the one which is, else of what the op takes.
  static void giveDtypes(RunStep& step, const std::string& told) {
    const std::string given = step.inputs.empty() ? "f32" : step.inputs.front().dtype;
    const bool counts = countsInFurtherResults(step.op);
    for (StepValue& value : step.outputs) {
      if (!value.dtype.empty()) continue;
      value.dtype = counts && &value != &step.outputs.front() ? "i64" : told.empty() ? given : told;
    }
  }

  /// Inputs get the number and dtype of what gave them; of others neither is told.
  void followProducers(RunStep& step) {
    if (m_block.producers.size() != step.inputs.size()) return;
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (const auto found = m_given.find(m_block.producers[i]); found != m_given.end())
        follow(step.inputs[i], found->second);
  }

  /// The log names the op, not which of its results: that is the one with the input's sum.
  void follow(StepValue& input, GivenStep& given) {
    std::vector<StepValue>& results = m_recording.steps[given.step].outputs;
    if (results.empty()) return;
    const auto equal = input.l1 ? given.bySum.find(keyOf(*input.l1)) : given.bySum.end();
    const bool isFound = equal != given.bySum.end() && equal->second != GivenStep::several;
    if (results.size() > 1 && !isFound) return markPerhapsTaken(given, results);
    const StepValue& source = results[isFound ? equal->second : 0];
    input.id = source.id;
    if (!source.dtype.empty()) input.dtype = source.dtype;
  }

  static void markPerhapsTaken(GivenStep& given, std::vector<StepValue>& results) {
    if (std::exchange(given.perhapsTaken, true)) return;
    for (StepValue& value : results) value.perhapsTaken = true;
  }

  RunRecording m_recording;
  OpBlock m_block;
  bool m_open = false;
  std::optional<std::size_t> m_said;
  std::unordered_map<std::string_view, GivenStep> m_given;  ///< by their keys
  std::size_t m_values = 0, m_unplaced = 0;
  std::int64_t m_nextId = 0;
};

}  // namespace

bool isTorchtitanLog(std::string_view head) {
  if (head.starts_with(countMark)) return true;
  bool named = false;
  while (!head.empty()) {
    const std::string_view line = nextLine(head);
    const std::string_view field = trimmedLine(line);
    if (named && (field.starts_with("Shape: torch.Size(") || field.starts_with("Output hash: ") ||
                  field.starts_with("Input hashes: ")))
      return true;
    named = !blockName(line).op.empty();
  }
  return false;
}

Result<RunRecording> readTorchtitanLog(std::string_view text) {
  if (text.size() > mostLogBytes) return fail(ErrorCode::TooLarge, "the log has {} bytes", text.size());
  return TitanReader().read(text);
}

}  // namespace kerf::inline align
