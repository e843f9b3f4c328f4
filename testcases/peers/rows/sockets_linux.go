package rows

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// sockets are read by one thread with one buffer, with one read for each socket
// that is ready. A goroutine per socket cost half as much again: it had to be
// woken, and to read a second time to learn that there was no more.
type sockets struct {
	poll, stop int // file descriptors, once the thread runs
	count      func(t *tail, buf []byte, n int, err error)
	fds        []int
	wg         sync.WaitGroup
}

// add reads conn until an error, and calls count with the result of each read.
// It takes the socket from conn and closes conn, because the runtime's poller
// would otherwise be notified of all data as well.
func (s *sockets) add(conn net.Conn, count func(t *tail, buf []byte, n int, err error)) error {
	if s.count == nil {
		if err := s.begin(count); err != nil {
			return err
		}
	}
	defer conn.Close()
	fd, err := duplicate(conn)
	if err != nil {
		return err
	}
	s.fds = append(s.fds, fd)
	return s.watch(fd)
}

// duplicate returns another descriptor of conn's socket, which the runtime does
// not poll.
func duplicate(conn net.Conn) (fd int, err error) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	if err := raw.Control(func(its uintptr) { fd, failed = unix.FcntlInt(its, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return 0, err
	}
	return fd, failed
}

func (s *sockets) begin(count func(t *tail, buf []byte, n int, err error)) (err error) {
	if s.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if s.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return err
	}
	s.count, s.fds = count, []int{s.poll, s.stop}
	if err := s.watch(s.stop); err != nil {
		return err
	}
	s.wg.Go(s.read)
	return nil
}

func (s *sockets) watch(fd int) error {
	return unix.EpollCtl(s.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// read is the thread. It ends when stop is ready.
func (s *sockets) read() {
	runtime.LockOSThread()
	buf, events := make([]byte, lead+256<<10), make([]unix.EpollEvent, 1024)
	tails := map[int]*tail{}
	for {
		n, err := unix.EpollWait(s.poll, events, -1)
		if err != nil && err != unix.EINTR {
			s.count(&tail{}, buf, 0, fmt.Errorf("epoll: %w", err))
			return
		}
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == s.stop {
				return
			}
			t := tails[fd]
			if t == nil {
				t = &tail{}
				tails[fd] = t
			}
			s.readOnce(fd, t, buf)
		}
	}
}

// readOnce reads a ready socket. It stops watching a socket that has ended.
func (s *sockets) readOnce(fd int, t *tail, buf []byte) {
	n, err := unix.Read(fd, buf[lead:])
	switch {
	case err == unix.EINTR || err == unix.EAGAIN:
		return // still ready, or a spurious event
	case err == nil && n == 0:
		err = io.EOF
	}
	if err != nil {
		_ = unix.EpollCtl(s.poll, unix.EPOLL_CTL_DEL, fd, nil)
	}
	s.count(t, buf, max(n, 0), err)
}

func (s *sockets) close() {
	if s.count == nil {
		return
	}
	_, _ = unix.Write(s.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	s.wg.Wait()
	for _, fd := range s.fds {
		_ = unix.Close(fd)
	}
}
