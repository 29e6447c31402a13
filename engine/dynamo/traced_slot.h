// What C code calls back while a program is traced: C++ exceptions wait in the tracer until C code is left.
#pragma once

#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

/// Runs `body(tracer)`, which gives a Ref and may throw; null with an exception set where it does.
template <class Body>
PyObject* whileTracing(Body body) {
  FrameTracer* tracer = FrameTracer::active();
  if (tracer == nullptr) return PyErr_Format(PyExc_RuntimeError, "a value of a trace outlived it");
  try {
    return body(*tracer).release();
  } catch (const PythonRaised&) {
    return nullptr;
  } catch (const SymbolicFailure& failure) {
    return tracer->keepDataDependent(failure.error.message);
  } catch (...) {
    return tracer->keepException();
  }
}

}  // namespace kerf::inline dynamo
