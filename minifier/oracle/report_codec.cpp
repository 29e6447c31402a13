// Comparison reports as MessagePack, through one table of fields each way.
#include "minifier/oracle/report_codec.h"

#include <nlohmann/json.hpp>

namespace kerf::inline minifier::inline oracle {

namespace {

using nlohmann::json;

/// Calls visit(name, field) for every field: the same list writes and reads.
template <class Report, class Visit>
void eachReportField(Report& report, Visit&& visit) {
  visit("same", report.same);
  visit("have_fp64", report.haveFp64);
  visit("fp64_note", report.fp64Note);
  visit("failure", report.failure);
}

template <class Output, class Visit>
void eachOutputField(Output& output, Visit&& visit) {
  visit("name", output.name);
  visit("same", output.same);
  visit("reason", output.reason);
  visit("max_abs_error", output.maxAbsError);
  visit("rmse_res", output.rmseRes);
  visit("rmse_ref", output.rmseRef);
  visit("ratio_to_limit", output.ratioToLimit);
  visit("multiplier", output.multiplier);
  visit("nan_ref", output.nanRef);
  visit("nan_res", output.nanRes);
  visit("inf_ref", output.infRef);
  visit("inf_res", output.infRes);
}

struct ToJson {
  json& object;
  template <class T>
  void operator()(const char* name, const T& field) const {
    object[name] = field;
  }
};

struct FromJson {
  const json& object;
  template <class T>
  void operator()(const char* name, T& field) const {
    field = object.at(name).get<T>();
  }
};

}  // namespace

std::string encodeReport(const ComparisonReport& report) {
  json object = json::object();
  eachReportField(report, ToJson{object});
  object["outputs"] = json::array();
  for (const OutputVerdict& output : report.outputs) {
    json entry = json::object();
    eachOutputField(output, ToJson{entry});
    object["outputs"].push_back(std::move(entry));
  }
  std::string bytes;
  json::to_msgpack(object, bytes);
  return bytes;
}

Result<ComparisonReport> decodeReport(std::string_view bytes) {
  try {
    const json object = json::from_msgpack(bytes);
    ComparisonReport report;
    eachReportField(report, FromJson{object});
    for (const json& entry : object.at("outputs")) {
      OutputVerdict& output = report.outputs.emplace_back();
      eachOutputField(output, FromJson{entry});
    }
    return report;
  } catch (const json::exception& error) {
    return fail(ErrorCode::Internal, "a candidate process sent a malformed report: {}", error.what());
  }
}

}  // namespace kerf::inline minifier::inline oracle
