// Attributes that a class computes: properties and objects with a __get__ or __set__ in Python, as Dynamo names them.
#pragma once

#include "engine/dynamo/instruction_translator.h"

namespace kerf::inline dynamo {

/// The class of an object: type(L['x']), or by what name the program called the class that made it.
SourcePtr classSource(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object);
/// What a class of the object's __mro__ itself has: dict(type(L['x']).__mro__[1].__dict__)['name'].
SourcePtr classItemSource(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object, const std::string& name);
/// That no class before the one that has the attribute gets one of that name: checked, not told.
void guardNotOverridden(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object, const std::string& name);
/// A property, or an object whose class has a __get__ in Python.
bool isPythonDescriptor(PyObject* found);
/// What it gives for an object.
VariableTracker callDescriptor(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                               PyObject* found, const std::string& name);
/// Calls a __set__ in Python; false where the class has none for that name.
bool setByDescriptor(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                     const std::string& name, PyObject* value);
/// A method that super() gives: the guard of its function.
void guardSuperMethod(FrameTracer& tracer, PyObject* super, PyObject* method, const std::string& name);

}  // namespace kerf::inline dynamo
