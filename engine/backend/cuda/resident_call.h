// ResidentCall: one run whose inputs lie on the device already and whose outputs stay there, as its caller says.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/backend/cuda/driver.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

class ResidentCall {
 public:
  /// Where an output goes: so many bytes are there for it.
  struct Place {
    DeviceAddress address = 0;
    std::int64_t bytes = 0;
  };

  /// The storage's bytes lie there, and are newer than the host's.
  void lies(const StoragePtr& storage, DeviceAddress address) { m_inputs[storage.get()] = address; }
  /// One for each output, in order. Internal in the run where one takes more.
  void setOutputs(std::vector<Place> places) { m_outputs = std::move(places); }

  std::optional<DeviceAddress> addressOf(const StoragePtr& storage) const;
  const std::vector<Place>& outputs() const { return m_outputs; }

  /// The one that this thread runs; null: inputs and outputs are the host's.
  static const ResidentCall* current();
  /// Runs by this thread are this call for as long as the object lives.
  class Scope {
   public:
    explicit Scope(const ResidentCall& call);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ResidentCall* m_before;
  };

 private:
  std::unordered_map<const Storage*, DeviceAddress> m_inputs;
  std::vector<Place> m_outputs;
};

/// The tensors of a run's result in order; what is none is an empty tensor.
std::vector<Tensor> outputTensors(const Value& result);
/// From the first element to the end of the last.
std::int64_t extentBytes(const Tensor& tensor);

}  // namespace kerf::inline backend
