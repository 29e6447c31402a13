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

Result<StoragePtr> ServedGraph::inputStorage(std::int64_t offset, std::int64_t bytes) {
  if (!m_device) return Storage::borrow(m_region->data() + offset, bytes, m_region);
  KERF_TRY(auto storage, Storage::allocate(bytes));  // for steps that the device leaves to the host
  m_call.lies(storage, m_device->address() + std::uint64_t(offset));
  return storage;
}

Result<Value> ServedGraph::input(const Json& told) {
  if (told.contains("integer")) return Value(told.at("integer").get<std::int64_t>());
  const auto dtype = dtypeFromTorchName(told.at("dtype").get<std::string>());
  if (!dtype) return fail(ErrorCode::UnsupportedOp, "an input has a dtype that Kerf lacks");
  const Sizes sizes = numbersOf(told.at("sizes")), strides = numbersOf(told.at("strides"));
  const auto offset = told.at("offset").get<std::int64_t>();
  const auto extent = sizes.size() == strides.size() ? extentOf(sizes, strides, *dtype) : std::nullopt;
  if (!extent || offset < 0 || offset > bytes() - *extent)
    return fail(ErrorCode::BadInput, "an input lies outside of the shared memory");
  KERF_TRY(auto storage, inputStorage(offset, *extent));
  return Value(Tensor(std::move(storage), *dtype, sizes, strides));
}

Result<void> ServedGraph::openMemory(const Json& request, int file) {
  if (!request.contains("device")) {
    KERF_TRY(m_region, SharedRegion::map(file, request.at("bytes").get<std::size_t>()));
    return {};
  }
  const auto handle = request.at("device").at("handle").get<std::string>();
  KERF_TRY(m_device, DeviceRegion::open(handle, request.at("bytes").get<std::int64_t>()));
  return {};
}

Result<void> ServedGraph::readPlaces(const Json& outputs) {
  std::vector<ResidentCall::Place> places;
  for (const Json& told : outputs) {
    const Place place{told.at("offset").get<std::int64_t>(), told.at("bytes").get<std::int64_t>()};
    if (place.offset < 0 || place.bytes < 0 || place.offset > bytes() - place.bytes)
      return fail(ErrorCode::BadInput, "an output lies outside of the shared memory");
    m_outputs.push_back(place);
    if (m_device) places.push_back({m_device->address() + std::uint64_t(place.offset), place.bytes});
  }
  if (m_outputs.size() != m_compiled->outputs())
    return fail(ErrorCode::BadInput, "{} places for {} outputs", m_outputs.size(), m_compiled->outputs());
  m_call.setOutputs(std::move(places));
  return {};
}

Result<std::unique_ptr<ServedGraph>> ServedGraph::make(const Json& request, int file) {
  std::unique_ptr<ServedGraph> graph(new ServedGraph);
  KERF_CHECK(graph->openMemory(request, file));
  const std::string_view backend = graph->m_device ? "cuda" : "llvm";
  KERF_TRY(graph->m_compiled, CompiledText::compile(request.at("compile").get<std::string>(), backend));
  for (const Json& told : request.at("inputs")) {
    KERF_TRY(Value value, graph->input(told));
    graph->m_inputs.push_back(std::move(value));
  }
  KERF_CHECK(graph->readPlaces(request.at("outputs")));
  return graph;
}

/// Of a graph on the device, the run itself has put the outputs where they belong.
Result<ValueList> ServedGraph::run() {
  if (!m_device) return m_compiled->call(m_inputs);
  const ResidentCall::Scope scope(m_call);
  return m_compiled->call(m_inputs);
}

void ServedGraph::copyOut(const Tensor& tensor, const Place& place, std::int64_t bytes) const {
  if (bytes <= 0 || m_device) return;
  std::memmove(m_region->data() + place.offset, tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype()),
               std::size_t(bytes));
}

Result<Json> ServedGraph::put(const Value& output, const Place& place) const {
  if (output.isNone()) return Json();
  if (!output.isTensor()) return fail(ErrorCode::UnsupportedOp, "an output is no tensor");
  const Tensor& tensor = output.tensor();
  const std::int64_t bytes = extentBytes(tensor);
  if (bytes > place.bytes)
    return fail(ErrorCode::Internal, "an output takes more than the {} bytes that are there for it", place.bytes);
  copyOut(tensor, place, bytes);
  return Json{{"dtype", dtypeInfo(tensor.dtype()).torchName}, {"sizes", tensor.sizes()}, {"strides", tensor.strides()}};
}

ServedGraph::Form ServedGraph::formOf(const Value& output) {
  if (!output.isTensor()) return {};
  const Tensor& tensor = output.tensor();
  return {false, tensor.dtype(), tensor.sizes(), tensor.strides()};
}

Result<Json> ServedGraph::call() {
  KERF_TRY(const ValueList results, run());
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
  const std::int64_t bytes = extentBytes(tensor);
  if (bytes > place.bytes) return false;
  copyOut(tensor, place, bytes);
  return true;
}

bool ServedGraph::callAgain() {
  const auto results = run();
  if (!results || results->size() != m_forms.size()) return false;
  for (std::size_t i = 0; i < results->size(); ++i)
    if (!put((*results)[i], m_forms[i], m_outputs[i])) return false;
  return true;
}

}  // namespace kerf::graph_server
