#include "engine/accuracy/same_cases.h"

#include <algorithm>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "engine/accuracy/same.h"
#include "engine/support/read_json.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/safetensors.h"

namespace kerf::inline accuracy {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t largestText = 256LL << 20;

using SetOption = bool (*)(SameOptions&, const json&);

template <bool SameOptions::* Field>
bool setFlag(SameOptions& options, const json& value) {
  if (!value.is_boolean()) return false;
  options.*Field = value.get<bool>();
  return true;
}
template <double SameOptions::* Field>
bool setNumber(SameOptions& options, const json& value) {
  if (!value.is_number() || !(value.get<double>() >= 0)) return false;
  options.*Field = value.get<double>();
  return true;
}

struct OptionRow {
  std::string_view name;
  SetOption set;
};

// Keyword arguments of torch._dynamo.utils.same.
constexpr OptionRow optionTable[] = {
    {"tol", setNumber<&SameOptions::tolerance>},
    {"equal_nan", setFlag<&SameOptions::equalNan>},
    {"exact_dtype", setFlag<&SameOptions::exactDtype>},
    {"ignore_non_fp", setFlag<&SameOptions::ignoreNonFloat>},
    {"cos_similarity", setFlag<&SameOptions::cosineSimilarity>},
    {"relax_numpy_equality", setFlag<&SameOptions::relaxNumpyEquality>},
    {"use_iou_for_bool", setFlag<&SameOptions::boolIou>},
    {"iou_threshold", setNumber<&SameOptions::iouThreshold>},
    {"use_larger_multiplier_for_smaller_tensor", setFlag<&SameOptions::useLargerMultiplierForSmallerTensor>},
    {"force_max_multiplier", setFlag<&SameOptions::forceMaxMultiplier>},
};

Result<SameOptions> readOptions(const json& record) {
  SameOptions options;
  const auto found = record.find("opts");
  if (found == record.end()) return options;
  if (!found->is_object()) return fail(ErrorCode::BadInput, "'opts' is not an object");
  for (const auto& [name, value] : found->items()) {
    const auto row = std::ranges::find(optionTable, std::string_view(name), &OptionRow::name);
    if (row == std::end(optionTable)) return fail(ErrorCode::BadInput, "unknown option '{}'", name);
    if (!row->set(options, value)) return fail(ErrorCode::BadInput, "option '{}' has a value of the wrong kind", name);
  }
  return options;
}

/// Name to tensor of a file with thousands of tensors.
class TensorIndex {
 public:
  explicit TensorIndex(const SafetensorsFile& file) {
    for (const auto& [name, tensor] : file.tensors) m_byName.emplace(name, &tensor);
  }
  Result<Value> get(const std::string& name) const {
    const auto found = m_byName.find(name);
    if (found == m_byName.end()) return fail(ErrorCode::BadInput, "tensor '{}' is missing", name);
    return Value(*found->second);
  }

 private:
  std::unordered_map<std::string_view, const Tensor*> m_byName;
};

Result<void> checkCase(const json& record, const std::string& id, const TensorIndex& tensors,
                       ConformanceReport& report) {
  const auto answer = record.find("same");
  if (answer == record.end() || !answer->is_boolean()) return fail(ErrorCode::BadInput, "'same' is not true or false");
  const auto withTruth = record.find("fp64");
  if (withTruth != record.end() && !withTruth->is_boolean())
    return fail(ErrorCode::BadInput, "'fp64' is not true or false");
  KERF_TRY(const SameOptions options, readOptions(record));
  KERF_TRY(const Value ref, tensors.get(id + ".ref"));
  KERF_TRY(const Value res, tensors.get(id + ".res"));
  Value truth;
  if (withTruth != record.end() && withTruth->get<bool>()) {
    KERF_TRY(truth, tensors.get(id + ".fp64"));
  }
  const SameReport got = same(ref, res, truth, options);
  ++report.cases;
  if (got.same == answer->get<bool>())
    ++report.agreed;
  else
    report.mismatches.push_back({id, answer->get<bool>(), got.same, got.outputs.front().reason});
  return {};
}

Result<void> checkRecord(const json& record, const TensorIndex& tensors, ConformanceReport& report) {
  if (!record.is_object() || !record.contains("id") || !record["id"].is_string())
    return fail(ErrorCode::BadInput, "a case has no 'id'");
  const auto id = record["id"].get<std::string>();
  auto done = checkCase(record, id, tensors, report);
  if (!done) done.error().message = fmt::format("case {}: {}", id, done.error().message);
  return done;
}

bool isCase(const json& record) { return record.is_object() && record.contains("id") && record.contains("same"); }

std::string_view textOf(const StoragePtr& storage) {
  return {reinterpret_cast<const char*>(storage->data()), std::size_t(storage->bytes())};
}

std::string_view firstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

Result<void> checkJson(std::string_view text, const TensorIndex& tensors, ConformanceReport& report) {
  const json document = readJson<json>(text);
  if (document.is_discarded() || !document.is_object() || !document.contains("cases") || !document["cases"].is_array())
    return fail(ErrorCode::BadInput, "not a JSON object with a list of 'cases'");
  for (const auto& record : document["cases"]) KERF_CHECK(checkRecord(record, tensors, report));
  return {};
}

Result<void> checkJsonLines(std::string_view text, const TensorIndex& tensors, ConformanceReport& report) {
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = firstLine(text);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json record = readJson<json>(line);
    const bool isHeader = number == 1 && record.is_object() && record.contains("torch") && !record.contains("id");
    if (isHeader) continue;
    auto done = record.is_discarded() ? Result<void>(fail(ErrorCode::BadInput, "the line {}", whyNoJson(line)))
                                      : checkRecord(record, tensors, report);
    if (done) continue;
    done.error().line = number;
    return done;
  }
  return {};
}

Result<void> checkFile(const fs::path& path, ConformanceReport& report) {
  KERF_TRY(const StoragePtr text, mapFile(path));
  if (text->bytes() > largestText)
    return fail(ErrorCode::TooLarge, "{} bytes of cases are more than {}", text->bytes(), largestText);
  fs::path data = path;
  data.replace_extension(".safetensors");
  KERF_TRY(const SafetensorsFile tensors, readSafetensors(data));
  const TensorIndex index(tensors);
  KERF_CHECK(path.extension() == ".jsonl" ? checkJsonLines(textOf(text), index, report)
                                          : checkJson(textOf(text), index, report));
  report.files.push_back(path);
  return {};
}

/// Whether a file looks like recorded cases, judged by its first record.
bool looksLikeCases(const fs::path& path) {
  const bool lines = path.extension() == ".jsonl";
  if (!lines && path.extension() != ".json") return false;
  const auto text = mapFile(path);
  if (!text || (*text)->bytes() > largestText) return false;
  if (lines) {
    const std::string_view all = textOf(*text);
    const json first = readJson<json>(firstLine(all));
    const bool header = first.is_object() && first.contains("torch") && !first.contains("id");
    if (!header) return isCase(first);
    const std::string_view rest = all.substr(std::min(all.size(), firstLine(all).size() + 1));
    return isCase(readJson<json>(firstLine(rest)));
  }
  const json document = readJson<json>(textOf(*text));
  if (!document.is_object() || !document.contains("cases") || !document["cases"].is_array()) return false;
  return document["cases"].empty() || isCase(document["cases"][0]);
}

std::vector<fs::path> caseFiles(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (looksLikeCases(entry.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool holdsSameCases(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return !caseFiles(path).empty();
  return looksLikeCases(path);
}

Result<ConformanceReport> checkSameCases(const fs::path& path) {
  ConformanceReport report;
  const auto files = caseFiles(path);
  for (const auto& file : files) {
    auto done = checkFile(file, report);
    if (done) continue;
    if (done.error().file.empty()) done.error().atFile(file.string(), done.error().line);
    return fail(std::move(done).error());
  }
  if (report.cases > 0) return report;
  Error error{ErrorCode::NotFound, "there are no recorded same() cases here", {}, 0, {}, {}};
  return fail(std::move(error.atFile(path.string())));
}

}  // namespace kerf::inline accuracy
