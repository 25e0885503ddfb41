// SPDX-License-Identifier: BSD-3-Clause
// The MPI tool information interface: Telpher's settings and counters beside the host MPI's own
// variables, which keep working under their shifted indices. `started`: before MPI_Init too.
#include <set>

#include "suite.hpp"

using namespace mpi_test;

namespace {

struct listed {
  std::string name;
  MPI_Datatype type;
  int var_class;
};

listed control(suite& s, int index) {
  char name[512] = {}, help[4096];
  int name_len = sizeof name, help_len = sizeof help, verbosity = 0, bind = -1, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumtype;
  const int code = MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, &enumtype, help,
                                       &help_len, &bind, &scope);
  // Open MPI marks variables of parts that it closed as invalid.
  if (code == MPI_T_ERR_INVALID_INDEX) return {"", MPI_DATATYPE_NULL, 0};
  s.expect_equal(code, MPI_SUCCESS, "MPI_T_cvar_get_info");
  s.expect_equal(static_cast<int>(std::strlen(name)) + 1, name_len, "the length of a name");
  return {name, type, 0};
}

listed performance(int index) {
  char name[512] = {}, help[4096];
  int name_len = sizeof name, help_len = sizeof help, verbosity = 0, var_class = 0, bind = -1;
  int readonly = 0, continuous = 0, atomic = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumtype;
  const int code =
      MPI_T_pvar_get_info(index, name, &name_len, &verbosity, &var_class, &type, &enumtype, help,
                          &help_len, &bind, &readonly, &continuous, &atomic);
  if (code != MPI_SUCCESS) return {"", MPI_DATATYPE_NULL, 0};
  return {name, type, var_class};
}

std::string value_of(suite& s, int index) {
  MPI_T_cvar_handle handle;
  int count = 0;
  s.expect_equal(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS, "a handle");
  std::vector<char> text(static_cast<std::size_t>(count) + 1);
  s.expect_equal(MPI_T_cvar_read(handle, text.data()), MPI_SUCCESS, "MPI_T_cvar_read");
  MPI_T_cvar_handle_free(&handle);
  s.expect(handle == MPI_T_CVAR_HANDLE_NULL, "a null handle");
  return text.data();
}

void settings(suite& s) {
  int number = 0, index = -1;
  MPI_T_cvar_get_num(&number);
  s.expect_equal(MPI_T_cvar_get_index("TELPHER_STALL_WARNING", &index), MPI_SUCCESS, "the index");
  s.expect(index >= 0 && index < number, "an index below the number");
  s.expect(control(s, index).name == "TELPHER_STALL_WARNING", "the name of that index");
  s.expect(control(s, index).type == MPI_CHAR, "a setting is text");
  s.expect(value_of(s, index) == "77s", "the value in force");

  MPI_T_cvar_handle handle;
  int count = 0;
  MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  s.expect_equal(MPI_T_cvar_write(handle, "1s"), MPI_T_ERR_CVAR_SET_NEVER, "a setting is constant");
  MPI_T_cvar_handle_free(&handle);

  char few[6];
  int length = sizeof few;
  MPI_T_cvar_get_info(index, few, &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr);
  s.expect(std::string(few) == "TELPH" && length == 6, "a name cut to its place");
}

// Each of the host MPI's is found by its name, and none is met twice.
void of_the_host(suite& s) {
  int number = 0, ours = 0, invalid = 0, index = -1;
  MPI_T_cvar_get_num(&number);
  std::set<std::string> names;
  for (int i = 0; i < number; ++i) {
    const listed v = control(s, i);
    ours += v.name.starts_with("TELPHER_");
    if (v.name.empty()) {
      ++invalid;
      continue;
    }
    names.insert(v.name);
    if (i % 16 == 0 && MPI_T_cvar_get_index(v.name.c_str(), &index) == MPI_SUCCESS)
      s.expect(control(s, index).name == v.name, "a name found again");
  }
  s.expect_equal(static_cast<int>(names.size()) + invalid, number, "different names");
  s.expect(ours > 20 && ours < number, "ours and the host MPI's");
  s.expect_equal(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME, "none");
  s.expect(MPI_T_cvar_get_info(number, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr, nullptr) != MPI_SUCCESS,
           "an index behind the last");
  s.expect(MPI_T_cvar_get_info(-1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr) != MPI_SUCCESS,
           "a negative index");

  int categories = 0;
  MPI_T_category_get_num(&categories);
  for (int c = 0; c < categories; ++c) {
    int in_it = 0;
    MPI_T_category_get_info(c, nullptr, nullptr, nullptr, nullptr, &in_it, nullptr, nullptr);
    std::vector<int> indices(static_cast<std::size_t>(in_it) + 1, -7);
    if (MPI_T_category_get_cvars(c, in_it, indices.data()) != MPI_SUCCESS) continue;
    s.expect_equal(indices.back(), -7, "no index behind the last");
    for (int i = 0; i < in_it; ++i)
      s.expect(indices[static_cast<std::size_t>(i)] < number &&
                   !control(s, indices[static_cast<std::size_t>(i)]).name.starts_with("TELPHER_"),
               "a category's are the host MPI's");
  }
}

void counters(suite& s) {
  const std::size_t bytes = 4096;
  int index = -1;
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  unsigned long long messages = 0, before = 0;
  std::vector<MPI_T_pvar_handle> handles;
  int number = 0;
  MPI_T_pvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    const listed v = performance(i);
    if (!v.name.starts_with("telpher_messages_")) continue;
    s.expect_equal(v.var_class, MPI_T_PVAR_CLASS_COUNTER, "the class");
    MPI_T_pvar_handle h;
    int count = 0;
    s.expect_equal(MPI_T_pvar_handle_alloc(session, i, nullptr, &h, &count), MPI_SUCCESS, "handle");
    s.expect_equal(count, 1, "one number");
    handles.push_back(h);
  }
  const auto sum = [&] {
    unsigned long long all = 0;
    for (MPI_T_pvar_handle h : handles) {
      unsigned long long one = 0;
      s.expect_equal(MPI_T_pvar_read(session, h, &one), MPI_SUCCESS, "MPI_T_pvar_read");
      all += one;
    }
    return all;
  };
  before = sum();
  const kind k = kinds().back();
  buffer out(k, bytes), in(k, bytes);
  MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, s.rank ^ 1, 3, in.data(), as_int(bytes),
               MPI_BYTE, s.rank ^ 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  messages = sum() - before;
  if (s.opt.device) s.expect(messages >= 1, "a message was counted");
  s.expect_equal(MPI_T_pvar_start(session, handles[0]), MPI_T_ERR_PVAR_NO_STARTSTOP, "start");
  s.expect_equal(MPI_T_pvar_stop(session, handles[0]), MPI_T_ERR_PVAR_NO_STARTSTOP, "stop");
  s.expect_equal(MPI_T_pvar_reset(session, handles[0]), MPI_T_ERR_PVAR_NO_WRITE, "reset");
  s.expect_equal(MPI_T_pvar_write(session, handles[0], &before), MPI_T_ERR_PVAR_NO_WRITE, "write");
  s.expect_equal(MPI_T_pvar_readreset(session, handles[0], &before), MPI_T_ERR_PVAR_NO_WRITE,
                 "readreset");
  s.expect_equal(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS, "start all");
  for (MPI_T_pvar_handle& h : handles) MPI_T_pvar_handle_free(session, &h);
  MPI_T_pvar_session_free(&session);
  s.expect_equal(MPI_T_pvar_get_index("telpher_requests", MPI_T_PVAR_CLASS_LEVEL, &index),
                 MPI_SUCCESS, "the index of a level");
  s.expect_equal(MPI_T_pvar_get_index("telpher_requests", MPI_T_PVAR_CLASS_COUNTER, &index),
                 MPI_T_ERR_INVALID_NAME, "of another class");
}

}  // namespace

int main(int argc, char** argv) {
  int index = -1, provided = 0;
  const int unready = MPI_T_cvar_get_index("TELPHER_LOG", &index);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const int early = MPI_T_cvar_get_index("TELPHER_LOG", &index);
  suite s(&argc, &argv, 2);
  s.run("before MPI_Init", [&] {
    s.expect_equal(unready, MPI_T_ERR_NOT_INITIALIZED, "before MPI_T_init_thread");
    s.expect_equal(early, MPI_SUCCESS, "after it");
  });
  s.run("settings", [&] { settings(s); });
  s.run("the host MPI's", [&] { of_the_host(s); });
  s.run("counters", [&] { counters(s); });
  MPI_T_finalize();
  return s.finish();
}
