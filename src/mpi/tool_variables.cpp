// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "memory/allocations.hpp"
#include "mpi/request_object.hpp"
#include "path/path.hpp"

namespace telpher::mpi_t {
namespace {

// A setting's value is text, of at most so many characters with the closing zero.
constexpr int value_size = 1024;

struct variable {
  std::string name;  // "TELPHER_LINGER", "telpher_mapped_bytes"
  std::string help;
};

// --- what there is ---

const std::vector<variable>& settings_list() {
  static const auto* const one = [] {
    auto* all = new std::vector<variable>;
    for (const setting_row& row : setting_rows()) {
      std::string name = std::string("TELPHER_") + row.name;
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      all->push_back({name, row.help});
    }
    return all;
  }();
  return *one;
}

using value = unsigned long long;

struct counter {
  variable what;
  bool level;  // goes up and down
  value (*read)(int);
  int argument;
};

constexpr std::uint64_t memory::allocations::counters::*imported_counts[] = {
    &memory::allocations::counters::hits, &memory::allocations::counters::opens,
    &memory::allocations::counters::closes};

const std::vector<counter>& counters_list() {
  static const auto* const one = [] {
    auto* all = new std::vector<counter>;
    for (int k = 1; k < static_cast<int>(path::kind::count_); ++k) {
      const std::string path = to_string(static_cast<path::kind>(k));
      all->push_back({{"telpher_messages_" + path, "messages that took the path " + path},
                      false,
                      [](int of) -> value { return used(static_cast<path::kind>(of)).messages; },
                      k});
      all->push_back({{"telpher_bytes_" + path, "bytes of messages that took the path " + path},
                      false,
                      [](int of) -> value { return used(static_cast<path::kind>(of)).bytes; },
                      k});
    }
    constexpr const char* cache[][2] = {
        {"telpher_ipc_hits", "memory of peers found open"},
        {"telpher_ipc_opens", "memory of peers opened"},
        {"telpher_ipc_closes", "memory of peers closed"},
    };
    for (int i = 0; i < static_cast<int>(std::size(cache)); ++i)
      all->push_back({{cache[i][0], cache[i][1]},
                      false,
                      [](int of) -> value {
                        return memory::allocations::instance().count(
                                   memory::facet::kind::imported).*
                               imported_counts[of];
                      },
                      i});
    all->push_back({{"telpher_requests", "requests of the program that Telpher completes"},
                    true,
                    [](int) -> value { return mpi::open_requests(); },
                    0});
    return all;
  }();
  return *one;
}

int cvars() noexcept {
  return static_cast<int>(settings_list().size());
}
int pvars() noexcept {
  return static_cast<int>(counters_list().size());
}

// --- handles ---

constexpr std::size_t most_variables = 1024;

/// A handle of ours is the address of the variable's place here.
template <class Handle>
class places {
 public:
  Handle handle_of(int index) noexcept {
    return reinterpret_cast<Handle>(&marks_[static_cast<std::size_t>(index)]);
  }
  /// The variable's index, or -1 if the handle is the host MPI's.
  int index_of(Handle handle) const noexcept {
    const auto* const at = reinterpret_cast<const char*>(handle);
    const bool ours = at >= marks_.data() && at < marks_.data() + marks_.size();
    return ours ? static_cast<int>(at - marks_.data()) : -1;
  }

 private:
  std::array<char, most_variables> marks_{};
};

places<MPI_T_cvar_handle> cvar_places;
places<MPI_T_pvar_handle> pvar_places;

/// As the standard gives out text (15.3.3): at most *length characters with the closing zero, and
/// *length becomes what was written; 0 or no place for the text asks for the whole length.
void give(const std::string& text, char* to, int* length) noexcept {
  if (!length) return;
  const int whole = static_cast<int>(text.size()) + 1;
  if (!to || *length <= 0) {
    *length = whole;
    return;
  }
  *length = std::min(*length, whole);
  std::memcpy(to, text.data(), static_cast<std::size_t>(*length - 1));
  to[*length - 1] = '\0';
}

template <class T>
void set(T* to, T what) noexcept {
  if (to) *to = what;
}

/// The host MPI's answer to whether the interface was started.
int ready() noexcept {
  int number = 0;
  return pmpi::T_cvar_get_num(&number);
}

void shift(int* indices, int count, int by) noexcept {
  for (int i = 0; indices && i < count; ++i) indices[i] += by;
}

}  // namespace

// --- control variables ---

int cvar_get_num(int* num) noexcept {
  const int code = pmpi::T_cvar_get_num(num);
  if (code == MPI_SUCCESS) *num += cvars();
  return code;
}

int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* type,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) noexcept {
  if (index < 0 || index >= cvars())
    return pmpi::T_cvar_get_info(index < 0 ? index : index - cvars(), name, name_len, verbosity,
                                 type, enumtype, desc, desc_len, bind, scope);
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  const auto at = static_cast<std::size_t>(index);
  const bool for_users = setting_rows()[at].who == audience::users;
  give(settings_list()[at].name, name, name_len);
  give(settings_list()[at].help, desc, desc_len);
  set(verbosity, for_users ? int{MPI_T_VERBOSITY_USER_BASIC} : int{MPI_T_VERBOSITY_TUNER_ALL});
  set(type, MPI_Datatype{MPI_CHAR});
  set(enumtype, MPI_T_enum{MPI_T_ENUM_NULL});
  set(bind, int{MPI_T_BIND_NO_OBJECT});
  set(scope, int{MPI_T_SCOPE_CONSTANT});
  return MPI_SUCCESS;
}

int cvar_get_index(const char* name, int* index) noexcept {
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  if (name && index)
    for (int i = 0; i < cvars(); ++i)
      if (settings_list()[static_cast<std::size_t>(i)].name == name) {
        *index = i;
        return MPI_SUCCESS;
      }
  const int code = pmpi::T_cvar_get_index(name, index);
  if (code == MPI_SUCCESS) *index += cvars();
  return code;
}

int cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) noexcept {
  if (index < 0 || index >= cvars())
    return pmpi::T_cvar_handle_alloc(index < 0 ? index : index - cvars(), object, handle, count);
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  *handle = cvar_places.handle_of(index);
  *count = value_size;
  return MPI_SUCCESS;
}

int cvar_handle_free(MPI_T_cvar_handle* handle) noexcept {
  if (cvar_places.index_of(*handle) < 0) return pmpi::T_cvar_handle_free(handle);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int cvar_read(MPI_T_cvar_handle handle, void* buf) noexcept {
  const int index = cvar_places.index_of(handle);
  if (index < 0) return pmpi::T_cvar_read(handle, buf);
  int room = value_size;
  give(setting_rows()[static_cast<std::size_t>(index)].value, static_cast<char*>(buf), &room);
  return MPI_SUCCESS;
}

// Settings are read from the environment, once.
int cvar_write(MPI_T_cvar_handle handle, const void* buf) noexcept {
  return cvar_places.index_of(handle) < 0 ? pmpi::T_cvar_write(handle, buf)
                                          : int{MPI_T_ERR_CVAR_SET_NEVER};
}

// --- performance variables ---

int pvar_get_num(int* num) noexcept {
  const int code = pmpi::T_pvar_get_num(num);
  if (code == MPI_SUCCESS) *num += pvars();
  return code;
}

int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class,
                  MPI_Datatype* type, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                  int* readonly, int* continuous, int* atomic) noexcept {
  if (index < 0 || index >= pvars())
    return pmpi::T_pvar_get_info(index < 0 ? index : index - pvars(), name, name_len, verbosity,
                                 var_class, type, enumtype, desc, desc_len, bind, readonly,
                                 continuous, atomic);
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  const counter& c = counters_list()[static_cast<std::size_t>(index)];
  give(c.what.name, name, name_len);
  give(c.what.help, desc, desc_len);
  set(verbosity, int{MPI_T_VERBOSITY_USER_BASIC});
  set(var_class, c.level ? int{MPI_T_PVAR_CLASS_LEVEL} : int{MPI_T_PVAR_CLASS_COUNTER});
  set(type, MPI_Datatype{MPI_UNSIGNED_LONG_LONG});
  set(enumtype, MPI_T_enum{MPI_T_ENUM_NULL});
  set(bind, int{MPI_T_BIND_NO_OBJECT});
  set(readonly, 1);
  set(continuous, 1);
  set(atomic, 0);
  return MPI_SUCCESS;
}

int pvar_get_index(const char* name, int var_class, int* index) noexcept {
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  if (name && index)
    for (int i = 0; i < pvars(); ++i) {
      const counter& c = counters_list()[static_cast<std::size_t>(i)];
      if (c.what.name != name ||
          var_class != (c.level ? MPI_T_PVAR_CLASS_LEVEL : MPI_T_PVAR_CLASS_COUNTER))
        continue;
      *index = i;
      return MPI_SUCCESS;
    }
  const int code = pmpi::T_pvar_get_index(name, var_class, index);
  if (code == MPI_SUCCESS) *index += pvars();
  return code;
}

int pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                      MPI_T_pvar_handle* handle, int* count) noexcept {
  if (index < 0 || index >= pvars())
    return pmpi::T_pvar_handle_alloc(session, index < 0 ? index : index - pvars(), object, handle,
                                     count);
  if (const int code = ready(); code != MPI_SUCCESS) return code;
  *handle = pvar_places.handle_of(index);
  *count = 1;
  return MPI_SUCCESS;
}

int pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) noexcept {
  if (pvar_places.index_of(*handle) < 0) return pmpi::T_pvar_handle_free(session, handle);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

// Ours always count. MPI_T_PVAR_ALL_HANDLES passes over such variables.
int pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept {
  return pvar_places.index_of(handle) < 0 ? pmpi::T_pvar_start(session, handle)
                                          : int{MPI_T_ERR_PVAR_NO_STARTSTOP};
}

int pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept {
  return pvar_places.index_of(handle) < 0 ? pmpi::T_pvar_stop(session, handle)
                                          : int{MPI_T_ERR_PVAR_NO_STARTSTOP};
}

int pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) noexcept {
  const int index = pvar_places.index_of(handle);
  if (index < 0) return pmpi::T_pvar_read(session, handle, buf);
  const counter& c = counters_list()[static_cast<std::size_t>(index)];
  const value now = c.read(c.argument);
  std::memcpy(buf, &now, sizeof now);
  return MPI_SUCCESS;
}

int pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) noexcept {
  return pvar_places.index_of(handle) < 0 ? pmpi::T_pvar_write(session, handle, buf)
                                          : int{MPI_T_ERR_PVAR_NO_WRITE};
}

int pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept {
  return pvar_places.index_of(handle) < 0 ? pmpi::T_pvar_reset(session, handle)
                                          : int{MPI_T_ERR_PVAR_NO_WRITE};
}

int pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) noexcept {
  return pvar_places.index_of(handle) < 0 ? pmpi::T_pvar_readreset(session, handle, buf)
                                          : int{MPI_T_ERR_PVAR_NO_WRITE};
}

// --- categories: the host MPI's, whose lists name variables by index ---

int category_get_cvars(int category, int len, int* indices) noexcept {
  int in_all = 0;
  pmpi::T_category_get_info(category, nullptr, nullptr, nullptr, nullptr, &in_all, nullptr,
                            nullptr);
  const int code = pmpi::T_category_get_cvars(category, len, indices);
  if (code == MPI_SUCCESS) shift(indices, std::min(len, in_all), cvars());
  return code;
}

int category_get_pvars(int category, int len, int* indices) noexcept {
  int in_all = 0;
  pmpi::T_category_get_info(category, nullptr, nullptr, nullptr, nullptr, nullptr, &in_all,
                            nullptr);
  const int code = pmpi::T_category_get_pvars(category, len, indices);
  if (code == MPI_SUCCESS) shift(indices, std::min(len, in_all), pvars());
  return code;
}

}  // namespace telpher::mpi_t
