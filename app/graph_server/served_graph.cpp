#include "app/graph_server/served_graph.h"

#include <cstring>

namespace kerf::graph_server {

namespace {

using Json = nlohmann::json;

/// Bytes from the first element to the end of the last; none for numbers that no tensor has.
std::optional<std::int64_t> extentOf(const Sizes& sizes, const Sizes& strides, DType dtype) {
  constexpr std::int64_t most = std::int64_t{1} << 46;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) return {};
    if (sizes[d] == 0) return 0;
    if (sizes[d] > 1 && strides[d] > most / sizes[d]) return {};
    last += (sizes[d] - 1) * strides[d];
    if (last > most) return {};
  }
  return (last + 1) * itemSize(dtype);
}

Sizes numbersOf(const Json& list) {
  Sizes numbers;
  for (const Json& item : list) numbers.push_back(item.get<std::int64_t>());
  return numbers;
}

}  // namespace

Result<Value> ServedGraph::input(const Json& told) const {
  if (told.contains("integer")) return Value(told.at("integer").get<std::int64_t>());
  const auto dtype = dtypeFromTorchName(told.at("dtype").get<std::string>());
  if (!dtype) return fail(ErrorCode::UnsupportedOp, "an input has a dtype that Kerf lacks");
  const Sizes sizes = numbersOf(told.at("sizes")), strides = numbersOf(told.at("strides"));
  const auto offset = told.at("offset").get<std::int64_t>();
  const auto bytes = sizes.size() == strides.size() ? extentOf(sizes, strides, *dtype) : std::nullopt;
  if (!bytes || offset < 0 || offset > std::int64_t(m_region->bytes()) - *bytes)
    return fail(ErrorCode::BadInput, "an input lies outside of the shared memory");
  return Value(Tensor(Storage::borrow(m_region->data() + offset, *bytes, m_region), *dtype, sizes, strides));
}

Result<std::unique_ptr<ServedGraph>> ServedGraph::make(const Json& request, int file) {
  KERF_TRY(auto region, SharedRegion::map(file, request.at("bytes").get<std::size_t>()));
  KERF_TRY(auto compiled, CompiledText::compile(request.at("compile").get<std::string>()));
  std::unique_ptr<ServedGraph> graph(new ServedGraph(std::move(compiled), std::move(region)));
  for (const Json& told : request.at("inputs")) {
    KERF_TRY(Value value, graph->input(told));
    graph->m_inputs.push_back(std::move(value));
  }
  for (const Json& told : request.at("outputs")) {
    const Place place{told.at("offset").get<std::int64_t>(), told.at("bytes").get<std::int64_t>()};
    if (place.offset < 0 || place.bytes < 0 || place.offset > std::int64_t(graph->m_region->bytes()) - place.bytes)
      return fail(ErrorCode::BadInput, "an output lies outside of the shared memory");
    graph->m_outputs.push_back(place);
  }
  if (graph->m_outputs.size() != graph->m_compiled->outputs())
    return fail(ErrorCode::BadInput, "{} places for {} outputs", graph->m_outputs.size(), graph->m_compiled->outputs());
  return graph;
}

Result<Json> ServedGraph::put(const Value& output, const Place& place) const {
  if (output.isNone()) return Json();
  if (!output.isTensor()) return fail(ErrorCode::UnsupportedOp, "an output is no tensor");
  const Tensor& tensor = output.tensor();
  const auto bytes = extentOf(tensor.sizes(), tensor.strides(), tensor.dtype());
  if (!bytes || *bytes > place.bytes)
    return fail(ErrorCode::Internal, "an output takes more than the {} bytes that are there for it", place.bytes);
  if (*bytes > 0)
    std::memmove(m_region->data() + place.offset, tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype()),
                 std::size_t(*bytes));
  return Json{{"dtype", dtypeInfo(tensor.dtype()).torchName}, {"sizes", tensor.sizes()}, {"strides", tensor.strides()}};
}

ServedGraph::Form ServedGraph::formOf(const Value& output) {
  if (!output.isTensor()) return {};
  const Tensor& tensor = output.tensor();
  return {false, tensor.dtype(), tensor.sizes(), tensor.strides()};
}

Result<Json> ServedGraph::call() {
  KERF_TRY(const ValueList results, m_compiled->call(m_inputs));
  Json told = Json::array();
  m_forms.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    KERF_TRY(Json one, put(results[i], m_outputs[i]));
    told.push_back(std::move(one));
    m_forms.push_back(formOf(results[i]));
  }
  return told;
}

bool ServedGraph::put(const Value& output, const Form& form, const Place& place) const {
  if (formOf(output) != form) return false;
  if (form.isNone) return output.isNone();
  const Tensor& tensor = output.tensor();
  const std::int64_t bytes = extentOf(form.sizes, form.strides, form.dtype).value_or(place.bytes + 1);
  if (bytes > place.bytes) return false;
  if (bytes > 0)
    std::memmove(m_region->data() + place.offset, tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype()),
                 std::size_t(bytes));
  return true;
}

bool ServedGraph::callAgain() {
  const auto results = m_compiled->call(m_inputs);
  if (!results || results->size() != m_forms.size()) return false;
  for (std::size_t i = 0; i < results->size(); ++i)
    if (!put((*results)[i], m_forms[i], m_outputs[i])) return false;
  return true;
}

}  // namespace kerf::graph_server
