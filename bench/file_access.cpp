// SPDX-License-Identifier: BSD-3-Clause
#include "file_access.hpp"

namespace telpher::bench {

file_access::file_access(memory_source& source, const file_shape& s, mode how)
    : source_(source),
      shape_(s),
      own_(source, how == mode::host ? kind::host : s.own_kind, s.bytes, 1),
      host_(source, kind::host, s.bytes, 1) {
  MPI_Comm_rank(s.comm, &rank_);
  place_ = static_cast<MPI_Offset>(s.bytes) * rank_;
  if (how == mode::staged && s.own_kind != kind::host)
    stage_ = std::make_unique<window_buffer>(source, kind::pinned, s.bytes, 1);
  const std::string name = s.name + '.' + telpher::bench::name(how);
  const int access = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(s.comm, name.c_str(), access, MPI_INFO_NULL, &file_) != MPI_SUCCESS)
    fail("cannot open %s", name.c_str());
  MPI_File_set_errhandler(file_, MPI_ERRORS_ARE_FATAL);
  MPI_File_write_at(file_, place_, host_.slot(0), static_cast<int>(s.bytes), MPI_BYTE,
                    MPI_STATUS_IGNORE);
}

file_access::~file_access() {
  MPI_File_close(&file_);
}

double file_access::run(long iterations, std::vector<double>* each) {
  return time_all(iterations, each, [this] { once(); });
}

void file_access::once() {
  const int bytes = static_cast<int>(shape_.bytes);
  void* memory = stage_ ? stage_->slot(0) : own_.slot(0);
  if (writes()) {
    if (stage_) source_.copy(memory, own_.slot(0), shape_.bytes);
    MPI_File_write_at(file_, place_, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  } else {
    MPI_File_read_at(file_, place_, memory, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (stage_) source_.copy(own_.slot(0), memory, shape_.bytes);
  }
}

double file_access::run_checked(std::uint64_t seed, std::string& wrong) {
  const int bytes = static_cast<int>(shape_.bytes);
  const std::uint64_t data = seed * 4096 + static_cast<std::uint64_t>(rank_);
  own_.write(0, writes() ? data : ~data);
  host_.write(0, writes() ? ~data : data);
  if (!writes())
    MPI_File_write_at(file_, place_, host_.slot(0), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  const double start = MPI_Wtime();
  once();
  const double seconds = MPI_Wtime() - start;
  if (writes()) MPI_File_read_at(file_, place_, host_.slot(0), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  (writes() ? host_ : own_).holds(0, data, wrong);
  return seconds;
}

}  // namespace telpher::bench
