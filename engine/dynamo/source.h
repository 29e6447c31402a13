// Where a value of a frame comes from: L['x'], G['f'].__defaults__[0], L['self']._modules['fc']._parameters['weight'].
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// The variables of a frame when its guards are checked or its compiled code runs.
struct FrameScope {
  /// Value of a local or free variable by its place in the frame; null where it is unbound.
  std::function<PyObject*(int slot)> local;
  PyObject* globals = nullptr;
  const std::vector<Ref>* drawn = nullptr;  ///< draws of Python's module random, as numbers, in a run of compiled code
};

class Source;
using SourcePtr = std::shared_ptr<const Source>;

class Source {
 public:
  enum class Kind { Local, Cell, Global, Attr, Item, PlacedItem, PlacedKey, Type, TypeDict, Size, Constant, Random };

  static SourcePtr local(std::string name, int slot);
  /// The cell object itself of a local or free variable, not what it holds.
  static SourcePtr cell(std::string name, int slot);
  static SourcePtr global(std::string name);
  static SourcePtr attribute(SourcePtr base, std::string name);
  static SourcePtr item(SourcePtr base, Ref key);
  /// The value of a dict's entry at a place, whatever its key is.
  static SourcePtr placedItem(SourcePtr base, Py_ssize_t place);
  /// The key of a dict's entry at a place.
  static SourcePtr placedKey(SourcePtr base, Py_ssize_t place);
  static SourcePtr type(SourcePtr base);
  /// What a class itself has: dict(C.__dict__).
  static SourcePtr typeDict(SourcePtr base);
  /// x.size()[dim]
  static SourcePtr size(SourcePtr base, std::int64_t dim);
  /// What the n-th draw of Python's module random gave in this run.
  static SourcePtr random(int number);
  /// An object that always is the same one: a module's dict, a function met on the way.
  static SourcePtr constant(std::string name, Ref object);

  Kind kind() const { return m_kind; }
  const SourcePtr& base() const { return m_base; }
  const std::string& text() const { return m_text; }
  int slot() const { return m_slot; }
  /// As guards print it.
  const std::string& name() const { return m_name; }
  /// The key of an item, the name of an attribute, or the object of a constant; null for others.
  PyObject* key() const { return m_key.get(); }
  /// The object now; nothing where it is gone (no exception stays).
  Ref evaluate(const FrameScope& scope) const;
  /// The same with what base() is now.
  Ref evaluateOn(PyObject* base) const;

 private:
  Source() = default;
  static std::shared_ptr<Source> make(Kind kind, SourcePtr base, std::string text, std::string name);
  Kind m_kind = Kind::Local;
  SourcePtr m_base;
  std::string m_text;
  std::string m_name;
  Ref m_key;
  int m_slot = -1;
};

/// The name of a graph input: "L['self']._parameters['w']" gives "L_self_parameters_w_".
std::string inputNameOf(const std::string& sourceName);

}  // namespace kerf::inline dynamo
