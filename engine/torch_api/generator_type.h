// torch.Generator: the engine's random numbers with a state of one's own.
#pragma once

#include "engine/ops/random/state.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

bool isGenerator(PyObject* object);

/// Draws come from the state of a generator while this lives; from the program's where there is none.
class GeneratorScope {
 public:
  explicit GeneratorScope(PyObject* generator);
  ~GeneratorScope();
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  RandomState* m_state;
};

/// Adds Generator, default_generator and manual_seed's functions to torch._C.
bool addGenerator(PyObject* module);

}  // namespace kerf::inline torch_api
