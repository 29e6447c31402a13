// How copies of the program's objects are made: same class, own contents.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/dynamo/guards.h"
#include "engine/python/reference.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline dynamo {

/// Sizes, dtype, device of a tensor, without its data.
Tensor fakeOf(PyObject* tensor);
/// An empty list or dict of the same class.
Ref emptyLike(PyObject* container);
/// A tuple of the same class (named tuples too) with other items.
Ref tupleLike(PyObject* tuple, const std::vector<Ref>& items);
bool isDeque(PyObject* object);
/// A method of a list, dict, set or deque that lives by itself: `push = items.append`.
bool isContainerMethod(PyObject* object);
/// A deque of the same length limit with other items; null with an exception set.
Ref dequeLike(PyObject* deque, const std::vector<Ref>& items);
bool isPartial(PyObject* object);
Ref partialLike(PyObject* partial, const std::function<Ref(PyObject* part, const char* name)>& copy);
/// Whether an object is of a class of the program, with nothing but attributes.
bool canCopyObject(PyObject* object);
/// Whether an object keeps attributes where canCopyObject() does not look: of a class with __slots__ and no dict, or a
/// types.SimpleNamespace. One that tracing made is built again.
bool hasHiddenAttributes(PyObject* object);
/// The descriptors of what the object's class lists in __slots__, by name. Borrowed.
std::vector<std::pair<std::string, PyObject*>> slotsOf(PyObject* object);
/// What a slot holds; null where it holds nothing.
Ref slotValue(PyObject* object, PyObject* descriptor);
/// A new object of the same class without attributes; nothing where that cannot be.
Ref allocateLike(PyObject* object);
/// The object's attributes; null where it has no dict. Borrowed.
PyObject* ownDictOf(PyObject* object);
/// Attributes of an instance of a subclass of list or dict.
void copyOwnDict(PyObject* from, PyObject* to);
/// Sets an item of a dict without what a subclass does about it.
int setRawItem(PyObject* dict, PyObject* key, PyObject* value);
Guard sameObjectGuard(const SourcePtr& a, const SourcePtr& b);

}  // namespace kerf::inline dynamo
