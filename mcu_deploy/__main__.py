from mcu_deploy.cli import main

main()
