// SPDX-License-Identifier: BSD-3-Clause
#include "path/ipc_put.hpp"

namespace telpher::path {

put_wait::put_wait(segment& sender, slot& cell, std::uint32_t epoch,
                   const exported_memory& target) noexcept
    : sender_(sender), cell_(cell), epoch_(epoch) {
  cell.target = target;
  sender.answer(cell, epoch, slot_state::put_asked);
}

status put_wait::poll() noexcept {
  switch (cell_.state_in(epoch_)) {
    case slot_state::put_asked:
      return status::would_block;
    case slot_state::put_done:
      sender_.answer(cell_, epoch_, slot_state::done);
      return status::ok;
    case slot_state::refused:
      return status::not_supported;
    default:
      return status::corrupt;
  }
}

put_copy::put_copy(slot& cell, std::uint32_t epoch, const region& from, int receiver) noexcept
    : cell_(cell), epoch_(epoch), copier_(copier::on(from.where)), opened_(open(from, receiver)) {}

status put_copy::open(const region& from, int receiver) noexcept {
  const exported_memory& to = cell_.target;
  if (!to.holds(from.bytes)) return status::corrupt;
  auto importer = importer_for(to, from.where);
  TELPHER_TRY(importer);
  TELPHER_TRY(open_exported(receiver, to, *importer).into(mapping_));
  job_.to = mapping_.base() + (to.address - to.base);
  job_.from = from.data;
  job_.bytes = from.bytes;
  copier_.enqueue(job_);
  return status::ok;
}

status put_copy::poll() noexcept {
  TELPHER_TRY(opened_);
  TELPHER_TRY(copier_.poll(job_));
  cell_.set(epoch_, slot_state::put_done);
  return status::ok;
}

namespace {

status ask_for_put(receive_end& e) noexcept {
  if (!e.to.where.on_device()) return status::not_supported;
  exported_memory target;
  auto info = memory::describe(e.to.where, e.to.data);
  TELPHER_TRY(info);
  TELPHER_TRY(export_region(e.to, *info, target));
  if (!target.exportable) return status::not_supported;
  e.transfer = std::make_unique<put_wait>(*e.sender, *e.cell, e.epoch, target);
  return status::ok;
}

std::unique_ptr<transfer> start_put(const send_end& e) noexcept {
  return std::make_unique<put_copy>(*e.cell, e.epoch, e.from, e.peer);
}

}  // namespace

constinit const record ipc_put_path{.name = kind::ipc_put,
                                    .between = node,
                                    .when = use::if_forced,
                                    .start_receive = ask_for_put,
                                    .asks = slot_state::put_asked,
                                    .answer = start_put};

}  // namespace telpher::path
