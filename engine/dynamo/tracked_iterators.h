// Iterators over containers of the program, whose items keep their sources.
#pragma once

#include <optional>
#include <vector>

#include "engine/dynamo/instruction_translator.h"

namespace kerf::inline dynamo {

/// enumerate(), zip() of lists, and a dict's items() and values(): nothing where the items lose their sources.
std::optional<VariableTracker> callTrackedIterator(InstructionTranslator& t, PyObject* callable, PyObject* args,
                                                   PyObject* kwargs, std::vector<VariableTracker>& sources);
/// iter() of a list, tuple, or what callTrackedIterator gave.
std::optional<Ref> trackedIterator(FrameTracer& tracer, PyObject* container);
/// What the iterator has just given; `unpacks`: the next instruction takes it apart.
VariableTracker trackedItem(FrameTracer& tracer, PyObject* iterator, const Ref& item, bool unpacks);
/// The item at that place of a tuple that an iterator gave; nothing of any other.
std::optional<VariableTracker> itemOfTracked(FrameTracer& tracer, PyObject* tuple, PyObject* item, Py_ssize_t place);

/// C code calls a method in Python of an object: the class's, as long as the object has none of its own.
void guardMethodUse(FrameTracer& tracer, PyObject* object, const char* method);
/// The same of what C code iterates over.
void guardIteration(FrameTracer& tracer, PyObject* object);

}  // namespace kerf::inline dynamo
