import Testing

@testable import AudioDevices

/// Tests of alsa-lib's messages about a configuration that it cannot read.
@Suite struct ALSAConfigurationTests {
  @Test(arguments: [
    (
      """
      _toplevel_:2:0:Unexpected char
      /home/me/.asoundrc may be old or corrupted: consider to remove or fix it
      function snd_config_hook_load returned error: Invalid argument
      """, "/home/me/.asoundrc, line 2: Unexpected char"
    ),
    (
      """
      Cannot access file /nowhere.conf
      _toplevel_:1:15:No such file or directory
      /etc/asound.conf may be old or corrupted: consider to remove or fix it
      """, "/etc/asound.conf, line 1: Cannot access file /nowhere.conf"
    ),
    ("/etc/alsa/more.conf:7:3:Unexpected char", "/etc/alsa/more.conf, line 7: Unexpected char"),
    ("_toplevel_:3:1:Unexpected end of file", "a file, line 3: Unexpected end of file"),
    ("hooks failed, removing configuration\n", "hooks failed, removing configuration"),
  ])
  func `file, line and reason of a message form one sentence`(messages: String, sentence: String) {
    #expect(ALSAConfiguration.reason(in: messages) == sentence)
  }

  @Test func `empty messages contain no reason`() {
    #expect(ALSAConfiguration.reason(in: "") == nil)
  }
}
