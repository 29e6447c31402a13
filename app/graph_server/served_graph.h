// One graph of a client: compiled, with places in shared memory for its inputs and outputs.
#pragma once

#include <nlohmann/json.hpp>

#include "app/graph_server/compiled_text.h"
#include "app/graph_server/device_region.h"
#include "app/graph_server/shared_region.h"
#include "engine/backend/cuda/resident_call.h"

namespace kerf::graph_server {

class ServedGraph {
 public:
  /// `request`: {"compile": text, "bytes", "inputs": [{"offset", "dtype", "sizes", "strides"} or {"integer"}],
  /// "outputs": [{"offset", "bytes"}]}; with "device": {"handle"} too, places are in that memory of the CUDA device, the
  /// graph runs there, and there is no file. BadInput for what is missing or lies outside of the memory.
  static Result<std::unique_ptr<ServedGraph>> make(const nlohmann::json& request, int file);

  /// Reads the inputs' places and writes the outputs': [{"dtype", "sizes", "strides"} or null].
  Result<nlohmann::json> call();
  /// The same where outputs are as at the last call(); false where they are not, or it failed.
  bool callAgain();

 private:
  struct Place {
    std::int64_t offset = 0, bytes = 0;
  };

  /// What the client was told of an output.
  struct Form {
    bool isNone = true;
    DType dtype = DType::Float32;
    Sizes sizes, strides;
    bool operator==(const Form&) const = default;
  };
  static Form formOf(const Value& output);
  bool put(const Value& output, const Form& form, const Place& place) const;

  Result<void> openMemory(const nlohmann::json& request, int file);
  Result<Value> input(const nlohmann::json& told);
  Result<StoragePtr> inputStorage(std::int64_t offset, std::int64_t bytes);
  Result<void> readPlaces(const nlohmann::json& outputs);
  std::int64_t bytes() const { return m_device ? m_device->bytes() : std::int64_t(m_region->bytes()); }
  Result<nlohmann::json> put(const Value& output, const Place& place) const;
  void copyOut(const Tensor& tensor, const Place& place, std::int64_t bytes) const;
  Result<ValueList> run();

  std::unique_ptr<CompiledText> m_compiled;
  std::shared_ptr<SharedRegion> m_region;  ///< or
  std::shared_ptr<DeviceRegion> m_device;
  ResidentCall m_call;  ///< of a graph on the device
  ValueList m_inputs;
  std::vector<Place> m_outputs;
  std::vector<Form> m_forms;  ///< of the last call()
};

}  // namespace kerf::graph_server
